/** Rows of the list as events contain them: half as long, because the browser reads all of them when it opens the list. Pure. */
import type { LandscapeRow } from './wire.ts';

type Usual = 'marks' | 'note' | 'failed' | 'running';

/** Without the values that most rows have, and without the parts of the id. */
export type SentRow = Omit<LandscapeRow, Usual | 'namespace' | 'name'> & Partial<Pick<LandscapeRow, Usual>>;

export const sentRow = ({
  namespace: _,
  name: __,
  marks,
  note,
  failed,
  running,
  ...row
}: LandscapeRow): SentRow => ({
  ...row,
  ...(marks.length > 0 && { marks }),
  ...(note !== '' && { note }),
  ...(failed > 0 && { failed }),
  ...(running > 0 && { running }),
});

export function receivedRow(row: SentRow): LandscapeRow {
  const [namespace = '', name = ''] = row.id.split('/');
  return { namespace, name, marks: [], note: '', failed: 0, running: 0, ...row };
}
