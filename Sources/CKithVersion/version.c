// Only this file is compiled anew where another commit is built.
#include "kith_version.h"

#ifndef KITH_DESCRIBED
#define KITH_DESCRIBED ""
#endif

const char *kith_version_described(void) { return KITH_DESCRIBED; }
