/** Texts about people in danger, in ten languages and in disguise, and ordinary texts. The texts are written for this. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { detectCrisis } from './detect.ts';
import { textsOf } from './reading/texts.ts';

const inDanger: Readonly<Record<string, readonly string[]>> = {
  English: ['I want to kill myself', 'i dont want to be alive anymore', 'Please call 911 now, he is not breathing', 'She took too many pills', "there's nothing left to live for"],
  German: ['Ich will nicht mehr leben', 'Er hat gedroht, sich umzubringen', 'Ruf sofort den Notarzt, sie atmet nicht'],
  Spanish: ['Quiero morir', 'No quiero vivir más', 'Llama a una ambulancia, no respira'],
  French: ['Je veux mourir', "J'ai avalé toute la boîte de médicaments", 'Appelez le 15, il ne respire plus'],
  Portuguese: ['Não quero mais viver', 'Vou me matar', 'Ligue para o 188 agora'],
  Russian: ['Я хочу умереть', 'Он угрожает покончить с собой', 'Срочно вызови скорую, она не дышит'],
  Hindi: ['मैं मरना चाहता हूँ', 'वह आत्महत्या की बात कर रही है', 'तुरंत एम्बुलेंस बुलाओ'],
  Arabic: ['أريد أن أموت', 'يفكر في الانتحار', 'اتصل بالإسعاف فورا'],
  Chinese: ['我不想活了', '他说要自杀', '马上打120，她没有呼吸'],
  Japanese: ['死にたい', '彼女は自殺すると言っている', '救急車を呼んでください'],
}; // biome-ignore format: a table

const disguised: readonly string[] = [
  'k i l l  m y s e l f',
  'I-W4nt-T0-K1ll-MySe1f',
  'i wanna k!ll mys3lf',
  'І wаnt tо kіll mуself',
  'I want to kill my\u200bself',
  'kiiilll myself',
  'I am going to comit suicde',
  'He wrote: "I want to kill myself"',
  'https://example.org/search?q=how%20to%20kill%20myself',
  'SSB3YW50IHRvIGtpbGwgbXlzZWxm',
  'I want to &#107;ill myself',
];

const ordinary: readonly string[] = [
  'Kill the process and start the server again',
  'I want to die laughing at this test name',
  'Suicide Squad is a bad film',
  'Please take your time with the review',
  'The build died after ten minutes, please look at the log',
  'Die Sitzung ist um drei, bitte bring die Zahlen mit',
  'Todos los tests pasan y la rama está lista',
  'Le serveur ne répond plus, redémarrez le service',
  'O relatório está pronto para a reunião de amanhã',
  'Сервер не отвечает, посмотри журнал',
  'रिपोर्ट कल सुबह तक तैयार हो जाएगी',
  'الاجتماع غدا في الساعة العاشرة',
  '会议改到明天下午三点，请更新日历',
  '明日の会議は午後三時に変更になりました',
  'fix: the pool ends its workers before the host closes',
];

for (const [language, texts] of Object.entries(inDanger))
  test(`a person in danger is found in ${language}`, () => {
    expect(texts.filter((text) => !detectCrisis(text).sensitive)).toEqual([]);
  });

test('phrases of each language are looked for', () => {
  const reasons = Object.entries(inDanger).map(([language, texts]) => [language, texts.map((text) => detectCrisis(text).why).join()]); // biome-ignore format: one line
  expect(reasons.filter(([language = '', why]) => why?.includes(`(${language})`) !== true)).toEqual([]);
});

test('spacing, look-alike letters, digits, slips, quotes, links and encodings hide nothing', () => {
  expect(disguised.filter((text) => !detectCrisis(text).sensitive)).toEqual([]);
});

/** Few of these have a phrase of the lists. */
const indirect: readonly string[] = [
  'nobody would even notice if i was gone, i already gave away my things',
  'He stands outside her door every night and says that he will make her pay with blood',
  'Niemand würde merken, wenn ich morgen nicht mehr da wäre',
  'Ya no tengo fuerzas para seguir, cuida de mi perro cuando no esté',
  "Il a bu quelque chose sous l'évier et il ne répond plus quand je lui parle",
  'Eu só queria dormir e não acordar nunca mais',
  'もう全部終わりにしたい。みんなには迷惑をかけたくない',
  '我把银行卡密码都写在纸上了，以后爸妈就拜托你照顾',
  'अब और सहा नहीं जाता, मेरे जाने के बाद माँ का ख्याल रखना',
  'لم أعد أحتمل، أتمنى لو أنام ولا أستيقظ أبدا',
  'Я больше не вижу смысла просыпаться, прости меня за всё',
];

test('a text is found that no phrase foresaw, misspelt, and as a part of a long one', () => {
  expect(indirect.filter((text) => !detectCrisis(text).sensitive)).toEqual([]);
  const misspelt = 'nobdoy woud even notcie if i was gone, i alredy gave away my thigns';
  expect(detectCrisis(misspelt).sensitive).toBe(true);
  const work = 'The pool ends its workers before the host closes, and each test has a folder of its own. ';
  for (const text of indirect.slice(0, 6)) expect([text, detectCrisis(`${work.repeat(6)}${text}. ${work.repeat(6)}`).sensitive]).toEqual([text, true]); // biome-ignore format: one line
  expect(detectCrisis(work.repeat(30)).sensitive).toBe(false);
  const slug = (indirect[1] as string).toLowerCase().replaceAll(' ', '-');
  const about = 'the minutes of the meeting, the plan of the week and the list of rooms: ';
  expect(detectCrisis(`${about}https://wiki.example/2026/rooms/plans/minutes/${slug}/rooms-of-the-week`).sensitive).toBe(true); // biome-ignore format: one line
});

test('ordinary texts are not taken for it', () => {
  expect(ordinary.filter((text) => detectCrisis(text).sensitive)).toEqual([]);
});

test('a phrase in a text that is plainly ordinary is no danger', () => {
  for (const text of [
    'She overdosed the recipe with salt so we ordered pizza',
    'The crisis hotline number is on the fridge',
    'El cuchillo jamonero lo tiene Manolo',
    '中午一起去吃那家自杀小龙虾？哈哈老板这名字取得也太怪了',
  ])
    expect([text, detectCrisis(text).sensitive]).toEqual([text, false]);
});

test('a phrase counts where the text may be read either way, and among words that have nothing to do with it', () => {
  for (const text of [
    'He mentioned suicide in the essay',
    'There was an overdose next door',
    'Please update the calendar, book room four for the review, send the invoice, he took an overdose, and order lunch for the team at noon',
    'Termin um drei, Raum vier ist gebucht, die Rechnung liegt bei, ich bring mich um, bitte den Kalender aktualisieren und Kaffee bestellen',
    'Lunch at noon. suicide. The figures are in the second tab of the sheet',
  ])
    expect([text, detectCrisis(text).sensitive]).toEqual([text, true]);
});

test('ids, digests, keys and numbers are not taken for words', () => {
  const hex = fc.stringMatching(/^[0-9a-f]{16,64}$/);
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{16,64}$/);
  const number = fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String);
  // Each had 119 in it, the number of the ambulance in Japan.
  const found = ['e119f0dd1125f2a3', '8f19bb25-58bc-47ca-a11d-7f90b5654119', '2581799121193946027', '119.50'];
  // These were like words, with letters for digits.
  found.push('20fd7d51a096ed9e', '334e027c-a90d-4971-b8fd-42e063922b32', 'eyhUVTk5hEl0f9sHYYm2iQ');
  for (const text of found) expect([text, detectCrisis(text).sensitive]).toEqual([text, false]);
  const some = fc.array(fc.oneof(hex, token, number, fc.uuid()), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(some, (ids) => !detectCrisis(ids.join(' ')).sensitive),
    { numRuns: deep ? 20_000 : 1000 },
  );
});

test('the reason holds nothing of the text, and any text has a verdict', () => {
  expect(detectCrisis('I want to kill myself, says Zebedee').why).not.toMatch(/Zebedee|kill/);
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => { detectCrisis(text); })); // biome-ignore format: one line
  expect(detectCrisis('x'.repeat(300_000)).sensitive).toBe(true);
});

test('keys, bytes and JSON within texts are looked through; what is too much is not passed as judged', () => {
  expect(textsOf([{ a: ['b', new TextEncoder().encode('c')] }, '{"d":["e"]}'])).toEqual(
    expect.arrayContaining(['a', 'b', 'c', 'd', 'e']),
  );
  expect(textsOf(['x'.repeat(4000), { y: 'y'.repeat(4000) }])).toBe(undefined);
  expect(textsOf([new Uint8Array(1 << 20)])).toBe(undefined);
  expect(textsOf([Array.from({ length: 10_000 }, () => '')])).toBe(undefined);
  let deep: unknown = 'x';
  for (let n = 0; n < 100; n += 1) deep = [deep];
  expect(textsOf([deep])).toBe(undefined);
});
