/** A browser with a session for the tests of this folder, and the errors that its pages reported. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts';
import { startConsoleStage, type ConsoleStage } from '../support/console-stage.ts';
import { skip } from '../support/skip.ts';

type Running = Awaited<ReturnType<ConsoleStage['serve']>>;

export interface Visit {
  readonly page: Page;
  /** Errors of scripts, and violations of the content security policy. */
  readonly errors: readonly string[];
}

/** Opens the link in a new profile. */
export async function visit(
  browser: Browser,
  link: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(link);
  return { page, errors };
}

/** Logs in with the link, and then opens a path of the console. */
export async function openLive(browser: Browser, link: string, path: string): Promise<Page> {
  const { page } = await visit(browser, link);
  await page.getByRole('status').getByText('live').waitFor();
  await page.goto(new URL(path, link).href);
  return page;
}

/** A browser for the tests of the describe block that calls this; they are skipped without Chromium. */
export function useBrowser(): { readonly browser: Browser } {
  let browser: Browser | undefined;
  before(async function () {
    this.timeout(60_000);
    browser = await startChromium();
    if (!browser) skip(this, WITHOUT_CHROMIUM);
  });
  after(() => browser?.close());
  return {
    get browser() {
      if (!browser) throw new Error('the browser is there only within tests');
      return browser;
    },
  };
}

/** A cluster with landscapes and a console for the tests of the describe block that calls this. */
export function useStage(): { readonly stage: ConsoleStage; readonly console: Running } {
  let stage: ConsoleStage | undefined;
  let console: Running | undefined;
  before(async function () {
    this.timeout(120_000);
    stage = await startConsoleStage();
    console = await stage.serve();
  });
  after(async function () {
    this.timeout(60_000);
    await console?.close();
    await stage?.stop();
  });
  return {
    get stage() {
      if (!stage) throw new Error('the stage is there only within tests');
      return stage;
    },
    get console() {
      if (!console) throw new Error('the console is there only within tests');
      return console;
    },
  };
}
