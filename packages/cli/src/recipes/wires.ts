/** The requests of a host to its model that the relay passes on. It answers all others itself. */

/** A request by its method and the path behind the address of the model. */
interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
}

/** An API of models. */
export type Wire = 'anthropic' | 'responses' | 'chat' | 'gemini';

const MODELS: Route = { method: 'GET', path: /^\/models(?:\/[\w.:@-]+)?$/ };

/** Every POST is judged before it is passed on. A GET has no body. */
const ROUTES: Readonly<Record<Wire, readonly Route[]>> = {
  anthropic: [
    { method: 'POST', path: /^\/v1\/messages(?:\/count_tokens)?$/ },
    { method: 'GET', path: /^\/v1\/models(?:\/[\w.:@-]+)?$/ },
  ],
  responses: [{ method: 'POST', path: /^\/responses$/ }, MODELS],
  chat: [{ method: 'POST', path: /^\/chat\/completions$/ }, MODELS],
  gemini: [
    { method: 'POST', path: /^\/v1(?:beta)?\/models\/[\w.-]+:(?:generateContent|streamGenerateContent|countTokens)$/ },
    { method: 'GET', path: /^\/v1(?:beta)?\/models(?:\/[\w.-]+)?$/ },
  ],
};

/** Whether a request is passed on. `target` is the path and the query, as they came, behind the model's address. */
export function isPassedOn(wire: Wire, method: string, target: string): boolean {
  const [path = ''] = target.split('?', 1);
  // Printable, and no fragment: the same bytes are a request line again.
  if (!/^[!-"$-~]+$/.test(target)) return false;
  return ROUTES[wire].some((route) => route.method === method && route.path.test(path));
}
