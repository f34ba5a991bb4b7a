/** Tests that the tables of a page name as links: `[title](../test/file.test.ts)`. */

interface Row {
  readonly id: string;
  readonly text: string;
  readonly tests: readonly { readonly title: string; readonly file: string }[];
}

/** The rows of the tables in a section, without headings. */
export function rowsOf(page: string, section: string): readonly Row[] {
  const [, text = ''] = new RegExp(`^## ${section}$([^]*?)(?=^## |$(?![^]))`, 'm').exec(page) ?? [];
  return [...text.matchAll(/^\| ([^|]+) \| (.*) \|$/gm)].map(([, id = '', rest = '']) => ({
    id,
    text: rest,
    tests: [...rest.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
      title,
      file,
    })),
  }));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a file has a test with this title; `…` stands for parts that differ from case to case. */
export function hasTest(source: string, title: string): boolean {
  const words = title.split('…').map(escaped).join('[^\\n]{1,80}?');
  return new RegExp(`(?:it\\(|title:|\\[)\\s*(['"\`])${words}\\1`).test(source.replace(/\\(['"`])/g, '$1'));
}
