/** The files of the client, which the build bundles. */
import { table } from '../../lib/objects.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../errors.ts';
import { packageInfo } from '../package.ts';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const FOLDER = 'dist/web/console';
const files: Readonly<Record<string, string>> = table({
  'index.html': 'text/html; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
});

/** By file name. @throws CommandError if the package was built without them */
export function readAssets(): ReadonlyMap<string, Asset> {
  const folder = join(packageInfo().folder, FOLDER);
  return new Map(
    Object.entries(files).map(([name, type]) => {
      const file = join(folder, name);
      if (!existsSync(file))
        throw new CommandError(`the console is not built: ${FOLDER}/${name} is missing; run: make build`);
      return [name, { type, body: readFileSync(file) }] as const;
    }),
  );
}
