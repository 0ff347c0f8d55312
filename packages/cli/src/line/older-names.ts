/** Verbs that had another name in `npm run hob`. What people wrote down goes on working. */
const NOW: Readonly<Record<string, string>> = {
  grants: 'list',
  requests: 'inbox',
  request: 'inbox',
  approve: 'grant',
  trust: 'confirm',
};

/** The line with the verb of today, and what to tell the person, if the name was another one. */
export function withNewName(args: readonly string[]): { readonly args: readonly string[]; readonly told?: string } {
  const [word = '', ...rest] = args;
  if (!Object.hasOwn(NOW, word)) return { args };
  return { args: [NOW[word] as string, ...rest], told: `hob ${word} is hob ${NOW[word]}` };
}
