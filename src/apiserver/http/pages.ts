/** Paths outside the resources: version and health. */
import type { Answer, Call } from '../api.ts';
import { indented } from '../openapi/discovery.ts';

const VERSION = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.0+espalier',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const;

const HEALTH = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/;

/** Paths that need no authorization. */
export const isPublicPath = (path: string): boolean => path === '/version' || HEALTH.test(path);

/** @param isReady whether storage is loaded and the bootstrap objects exist */
export function pageAnswer(call: Call, isReady: () => boolean): Answer | undefined {
  if (call.method !== 'GET') return undefined;
  if (call.info.path === '/version') return indented(VERSION);
  const health = HEALTH.exec(call.info.path);
  if (!health) return undefined;
  const [, name = ''] = health;
  const isGood = name !== 'readyz' || isReady();
  const verbose = call.query.has('verbose');
  const lines =
    verbose || !isGood
      ? `[+]ping ok\n[${isGood ? '+' : '-'}]storage ok\n${name} check ${isGood ? 'passed' : 'failed'}\n`
      : 'ok';
  return {
    type: 'bytes',
    code: isGood ? 200 : 500,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: Buffer.from(lines),
  };
}
