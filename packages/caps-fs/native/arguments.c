/* Takes arguments from JavaScript and makes results. A value of another type is refused or ignored, never read. */
#include "fscap.h"

int number(napi_env env, napi_value value) {
  int32_t n = -1;
  napi_get_value_int32(env, value, &n);
  return n;
}

int text(napi_env env, napi_value value, char *into, size_t size) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, into, size, &length) != napi_ok) return -EINVAL;
  /* A text that fills the buffer may have been cut, perhaps in the middle of a character. */
  return length >= size - 4 ? -ENAMETOOLONG : 0;
}

double *fieldsOf(napi_env env, napi_value value) {
  napi_typedarray_type type;
  size_t length = 0;
  void *data = NULL;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL) != napi_ok) return NULL;
  return type == napi_float64_array && length >= FIELDS ? data : NULL;
}

napi_value answer(napi_env env, int64_t n) {
  napi_value value = NULL;
  napi_create_int64(env, n, &value);
  return value;
}

const unsigned char *bytesOf(napi_env env, napi_value value, size_t *length) {
  napi_typedarray_type type;
  void *bytes = NULL;
  int ok = napi_get_typedarray_info(env, value, &type, length, &bytes, NULL, NULL) == napi_ok;
  if (!ok || type != napi_uint8_array) return NULL;
  /* An empty array may have a null address, and NULL means failure here. */
  return bytes ? bytes : (const unsigned char *)"";
}
