// A wall clock that is wrong: loaded into a node with LD_PRELOAD, it adds to every reading of the wall clock the milliseconds
// that the file named by KITH_LAB_CLOCK holds. The file is read again at each reading, so the clock can be set while a node runs.
// Clocks that only measure durations are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long offset_milliseconds(void) {
    const char *path = getenv("KITH_LAB_CLOCK");
    char text[32];
    if (!path) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    return atoll(text);
}

int clock_gettime(clockid_t clock, struct timespec *reading) {
    long result = syscall(SYS_clock_gettime, clock, reading);
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return (int)result;
    long long offset = offset_milliseconds();
    long long nanoseconds = reading->tv_nsec + offset % 1000 * 1000000;
    reading->tv_sec += offset / 1000;
    if (nanoseconds < 0) { nanoseconds += 1000000000; reading->tv_sec -= 1; }
    if (nanoseconds >= 1000000000) { nanoseconds -= 1000000000; reading->tv_sec += 1; }
    reading->tv_nsec = nanoseconds;
    return 0;
}

int gettimeofday(struct timeval *restrict reading, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    reading->tv_sec = precise.tv_sec;
    reading->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec precise;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    if (result) *result = precise.tv_sec;
    return precise.tv_sec;
}
