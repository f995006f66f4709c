// The version of Kith. Every other place reads it from here: the programs, their packages, and scripts/version.sh.
#define KITH_VERSION "0.1.0"

// What `git describe` said when this was built; empty where it was not asked, or where there is no git.
extern const char *kith_version_described(void);
