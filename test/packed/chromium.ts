/** How tests run the browser. */

export const CHROMIUM = 'chromium';

/** Without a screen, and with all that it keeps in `home`. Its own sandbox needs rights that a container lacks. */
export const chromiumOptions = (home: string): readonly string[] => [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  `--user-data-dir=${home}/profile`,
];
