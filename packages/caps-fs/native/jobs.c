/* Runs a job in the thread pool and gives its result to a promise. */
#include "fscap.h"

void forget(napi_env env, struct job *job) {
  if (job->kept) napi_delete_reference(env, job->kept);
  if (job->into) napi_delete_reference(env, job->into);
  if (job->work) napi_delete_async_work(env, job->work);
  if (job->fd >= 0) close(job->fd);
  free(job);
}

napi_value start(napi_env env, struct job *job, const char *what, napi_async_execute_callback run,
                 napi_async_complete_callback done) {
  napi_value promise = NULL, name = NULL;
  if (napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
      napi_create_string_utf8(env, what, NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_async_work(env, NULL, name, run, done, job, &job->work) != napi_ok ||
      napi_queue_async_work(env, job->work) != napi_ok) {
    forget(env, job);
    return answer(env, -ENOMEM);
  }
  return promise;
}

void finish(napi_env env, struct job *job, napi_value value) {
  napi_resolve_deferred(env, job->deferred, value);
  forget(env, job);
}
