#include "CSQLiteTriggers.h"
