/** Rows of words in aligned columns. Pure. */
import { largest } from '../../lib/lists.ts';

/** The lines, without line breaks and without spaces at their ends. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const count = largest(rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) => largest(rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((word, at) => word.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
