// A driver that pretends: one sm_90 card whose memory is the host's and whose kernels do nothing. It counts nothing,
// checks nothing, and fails where ASSAY_FAKE_FAIL=FUNCTION:CODE says so. Enough to see what Assay does with a driver's
// answers on a machine that has none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

static int fails(const char *function)
{
    const char *wanted = getenv("ASSAY_FAKE_FAIL");
    const size_t length = strlen(function);
    if (!wanted || strncmp(wanted, function, length) != 0 || wanted[length] != ':') return 0;
    return atoi(wanted + length + 1);
}

#define ANSWER return fails(__func__)

int cuInit(unsigned flags) { (void)flags; ANSWER; }
int cuDriverGetVersion(int *version) { *version = 13000; ANSWER; }
int cuDeviceGetCount(int *count) { *count = 1; ANSWER; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; ANSWER; }
int cuDeviceGetName(char *name, int length, int device) { (void)device; snprintf(name, length, "Pretended Card"); ANSWER; }
int cuDeviceGetUuid_v2(char *uuid, int device) { memset(uuid, device, 16); ANSWER; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 2 : 0;
    ANSWER;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = 1u << 30; ANSWER; }
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = (void *)1; ANSWER; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; ANSWER; }
int cuCtxSetCurrent(void *context) { (void)context; ANSWER; }
int cuMemGetInfo_v2(size_t *left, size_t *all) { *left = 4096; *all = 1u << 30; ANSWER; }
int cuMemAlloc_v2(address *pointer, size_t bytes)
{
    const int code = fails(__func__);
    if (!code) *pointer = (address)calloc(1, bytes);
    return code;
}
int cuMemFree_v2(address pointer) { free((void *)pointer); ANSWER; }
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) { (void)flags; *pointer = malloc(bytes); ANSWER; }
int cuMemFreeHost(void *pointer) { free(pointer); ANSWER; }
int cuMemsetD32Async(address pointer, unsigned value, size_t words, void *stream)
{
    (void)stream;
    for (size_t i = 0; i < words; ++i) ((unsigned *)pointer)[i] = value;
    ANSWER;
}
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)to, from, bytes);
    ANSWER;
}
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (void *)from, bytes);
    ANSWER;
}
int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = (void *)2; ANSWER; }
int cuStreamDestroy_v2(void *stream) { (void)stream; ANSWER; }
int cuStreamSynchronize(void *stream) { (void)stream; ANSWER; }
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = (void *)3; ANSWER; }
int cuEventDestroy_v2(void *event) { (void)event; ANSWER; }
int cuEventRecord(void *event, void *stream) { (void)event; (void)stream; ANSWER; }
int cuEventSynchronize(void *event) { (void)event; ANSWER; }
int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
    (void)start; (void)end;
    *milliseconds = 1.0f;
    ANSWER;
}
int cuModuleLoadData(void **module, const void *image) { (void)image; *module = (void *)4; ANSWER; }
int cuModuleUnload(void *module) { (void)module; ANSWER; }
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module; (void)name;
    *function = (void *)5;
    ANSWER;
}
int cuFuncSetAttribute(void *function, int attribute, int value)
{
    (void)function; (void)attribute; (void)value;
    ANSWER;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra)
{
    (void)function; (void)gx; (void)gy; (void)gz; (void)bx; (void)by; (void)bz; (void)shared; (void)stream;
    (void)arguments; (void)extra;
    ANSWER;
}
