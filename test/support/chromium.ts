/** A headless Chromium for tests of pages. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program; undefined if none is installed. */
const chromiumPath = (): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));

/** Undefined if Chromium is not installed. */
export async function startChromium(): Promise<Browser | undefined> {
  const executablePath = chromiumPath();
  // As root, Chromium refuses to start with its sandbox. The tests open only pages of their own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args });
}

export const WITHOUT_CHROMIUM = 'Chromium is not installed; on Debian: apt-get install chromium';
