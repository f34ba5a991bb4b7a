/** Selects the log lines of one landscape, and explains why there are none. */
import { parseExactJson } from '../../../lib/exact-json.ts';
import { isObject } from '../../../lib/objects.ts';
import { objectOf, type LogLine } from '../../../observability/log-text.ts';
import { levels, type Level } from '../../../observability/log.ts';
import { selfCommand } from '../../self-command.ts';

/** The selected lines. */
export interface Wanted {
  /** Name of the root installation; undefined: all roots. Without name and namespace, lines need no tree. */
  readonly name?: string | undefined;
  /** Namespace of the root installation; undefined: all namespaces. */
  readonly namespace?: string | undefined;
  /** Least severe level. */
  readonly level: Level;
  /** Beginning of the id of a job. */
  readonly job?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceMs?: number | undefined;
}

/** A selected line, as it was written, and its fields. */
export interface Entry {
  readonly raw: string;
  readonly line: LogLine;
}

/** Counts the lines that it has seen. */
export class LogFilter {
  readonly #wanted: Wanted;
  #lines = 0;
  #others = 0;
  #selected = 0;
  /** A line about the wanted installation as a part of another tree. */
  #partOf: LogLine | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Undefined if the line is not wanted, or not JSON. */
  select(raw: string): Entry | undefined {
    const line = parsed(raw);
    if (!line) {
      if (raw.trim() !== '') this.#others++;
      return undefined;
    }
    this.#lines++;
    if (!this.#isOfRoot(line) || !isWanted(line, this.#wanted)) return undefined;
    this.#selected++;
    return { raw, line };
  }

  #isOfRoot(line: LogLine): boolean {
    if (isNamed(line['tree'], this.#wanted)) return true;
    const isPart = typeof line['tree'] === 'string' && line['resource.kind'] === 'Installation';
    if (isPart && isNamed(objectOf(line)?.split(' ')[1], this.#wanted)) this.#partOf = line;
    return false;
  }

  /**
   * Why no line was selected; undefined if there were some.
   * @param source where the lines are from, such as a file name
   */
  explanation(source: string): string | undefined {
    if (this.#selected > 0) return undefined;
    if (this.#lines === 0 && this.#others > 0)
      return `${source} has no lines in the JSON format; write the log with --log-format json`;
    if (this.#partOf) {
      const tree = String(this.#partOf['tree']);
      const [namespace = '', name = ''] = tree.split('/');
      return `${objectOf(this.#partOf) ?? ''} is not a root, but part of the tree ${tree}; show its lines with: ${selfCommand()} logs ${name} -n ${namespace}`;
    }
    const { level, job, sinceMs } = this.#wanted;
    const isLimited = level !== 'trace' || job !== undefined || sinceMs !== undefined;
    return `no matching lines${wordsFor(this.#wanted)} among ${String(this.#lines)} in ${source}${isLimited ? '; --since, --level and --job limit them' : ''}`;
  }
}

function wordsFor({ name, namespace }: Wanted): string {
  if (name !== undefined) return ` of the tree ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  return namespace === undefined ? '' : ` of namespace ${namespace}`;
}

function isNamed(key: unknown, { name, namespace }: Wanted): boolean {
  if (name === undefined && namespace === undefined) return true;
  if (typeof key !== 'string') return false;
  const [keyNamespace, keyName] = key.split('/');
  return (name ?? keyName) === keyName && (namespace ?? keyNamespace) === keyNamespace;
}

const isWanted = (line: LogLine, { level, job, sinceMs }: Wanted): boolean =>
  severity(line['level']) >= severity(level) &&
  (job === undefined || (typeof line['jobID'] === 'string' && line['jobID'].startsWith(job))) &&
  (sinceMs === undefined || !(Date.parse(String(line['time'])) < sinceMs));

/** Unknown levels, such as `fatal`, are the most severe. */
function severity(level: unknown): number {
  const at = levels.findIndex((each) => each === level);
  return at < 0 ? Infinity : at;
}

function parsed(raw: string): LogLine | undefined {
  if (!raw.startsWith('{')) return undefined;
  try {
    const value = parseExactJson(raw);
    return isObject(value) && typeof value['msg'] === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
