/** Checks with the helm program which values fit which `values.schema.json`, and compares with our validation. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printNatively } from '../../test/support/charts.ts';
import { schemaCases } from '../../test/support/values-schemas.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns the number of differences */
export async function compareSchemas(helm: string): Promise<number> {
  const chart = mkdtempSync(join(tmpdir(), 'espalier-schemas-'));
  let different = 0;
  try {
    mkdirSync(join(chart, 'templates'));
    writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: t\nversion: 0.1.0\n');
    writeFileSync(join(chart, 'templates/c.yaml'), 'a: b\n');
    for (const { title, schema, values, isAccepted } of schemaCases) {
      writeFileSync(join(chart, 'values.schema.json'), JSON.stringify(schema));
      writeFileSync(join(chart, 'values.yaml'), values);
      const byHelm = spawnSync(helm, ['template', 'x', chart]).status === 0;
      const byUs = (await printNatively({ name: title, chart, values: undefined })).text !== undefined;
      if (byHelm === isAccepted && byUs === isAccepted) continue;
      different++;
      say(
        `✗ schema: ${title}\n    expected ${shown(isAccepted)}, helm ${shown(byHelm)}, ours ${shown(byUs)}`,
      );
    }
  } finally {
    rmSync(chart, { recursive: true });
  }
  if (different === 0) say(`schemas: ${String(schemaCases.length)} verdicts are the same as helm's`);
  return different;
}

const shown = (isAccepted: boolean): string => (isAccepted ? 'accepts' : 'refuses');
