/*
 * The functions of this module, by the names that JavaScript calls: openat2, renameat2 without replacing,
 * unnamed files (O_TMPFILE), and jobs that make several calls in one trip to the thread pool.
 *
 * Promise: a path goes through openat2 and nothing else, with the RESOLVE_ flags that drivers/native.ts sets.
 * It follows no link and leaves neither the directory nor its mount. If it fails, the walk in TypeScript
 * decides. Each function returns a negative errno on failure. No text of the host is returned.
 */
#include "fscap.h"

/* Increase this when the arguments or the result of a function change. drivers/part.ts checks it. */
#define PART 4

NAPI_MODULE_INIT() {
  static const struct {
    const char *name;
    napi_callback act;
  } table[] = {
      {"openBeneath", openBeneath}, {"statBeneath", statBeneath},     {"mountOf", mountOf},
      {"renameNew", renameNew},     {"createUnnamed", createUnnamed}, {"nameUnnamed", nameUnnamed},
      {"readBeneath", readBeneath}, {"writeUnnamed", writeUnnamed},
      {"statHeld", statHeld},       {"statNamed", statNamed},
      {"roomOf", roomOf},           {"writeNamed", writeNamed},
      {"someEntries", someEntries}, {"sortedNames", sortedNames},
      {"filesWithout", filesWithout},
  };
  findDescriptors();
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    napi_value act;
    if (napi_create_function(env, table[i].name, NAPI_AUTO_LENGTH, table[i].act, NULL, &act) == napi_ok)
      napi_set_named_property(env, exports, table[i].name, act);
  }
  napi_set_named_property(env, exports, "part", answer(env, PART));
  return exports;
}
