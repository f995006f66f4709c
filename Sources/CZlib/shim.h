#ifndef KITH_CZLIB_SHIM_H
#define KITH_CZLIB_SHIM_H

#include <zlib.h>

#endif
