/** Unpacks a chart archive, without its top-level folder; no path may lead out of it. */
import { gunzipSync } from 'node:zlib';
import { posix } from 'node:path';
import { isGzip } from '../../lib/gzip.ts';
import { readTar, TarError } from '../../lib/tar.ts';
import type { ChartFile } from './chart.ts';
import { ChartInvalid } from './errors.ts';

const MAX_CHART_BYTES = 100 * 2 ** 20;
const MAX_FILE_BYTES = 5 * 2 ** 20;
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

export const withoutMark = (content: Uint8Array): Uint8Array =>
  BYTE_ORDER_MARK.equals(content.subarray(0, 3)) ? content.subarray(3) : content;

/** The remaining unpacked size for a chart and its packed subcharts. */
export interface UnpackBudget {
  leftBytes: number;
}

export const unpackBudget = (): UnpackBudget => ({ leftBytes: MAX_CHART_BYTES });

/** @throws ChartInvalid */
export function filesOfArchive(bytes: Uint8Array, budget: UnpackBudget): readonly ChartFile[] {
  const files: ChartFile[] = [];
  try {
    for (const { path, type, content } of readTar(unpacked(bytes, budget))) {
      if (type !== 'file') continue;
      if (content.length > MAX_FILE_BYTES) {
        throw new ChartInvalid(
          `decompressed chart file "${path}" is larger than the maximum file size ${String(MAX_FILE_BYTES)}`,
        );
      }
      files.push({ name: nameOf(path), content: withoutMark(content) });
    }
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    throw new ChartInvalid(`the chart is no tar archive: ${error.message}`, { cause: error });
  }
  if (files.length === 0) throw new ChartInvalid('no files in chart archive');
  return files;
}

function unpacked(bytes: Uint8Array, budget: UnpackBudget): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    const result = gunzipSync(bytes, { maxOutputLength: Math.max(1, budget.leftBytes) });
    budget.leftBytes -= result.length;
    return result;
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const why = isTooLarge
      ? `decompressed chart is larger than the maximum file size ${String(MAX_CHART_BYTES)}`
      : `the chart cannot be unpacked: ${(error as Error).message}`;
    throw new ChartInvalid(why, { cause: error });
  }
}

/** The path without its first segment. */
function nameOf(path: string): string {
  const parts = path.split(path.includes('\\') ? '\\' : '/');
  if (parts[0] === 'Chart.yaml') throw new ChartInvalid('chart yaml not in base directory');
  const inside = parts.slice(1).join('/');
  if (inside.startsWith('/')) throw new ChartInvalid('chart illegally contains absolute paths');
  const name = posix.normalize(inside === '' ? '.' : inside);
  if (name === '.') {
    throw new ChartInvalid(`chart illegally contains content outside the base directory: "${path}"`);
  }
  if (name.startsWith('..')) throw new ChartInvalid('chart illegally references parent directory');
  if (/^[a-zA-Z]:\//.test(name)) throw new ChartInvalid('chart contains illegally named files');
  return name;
}
