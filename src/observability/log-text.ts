/** Log lines as text for people: one short line for each, with the object as `Kind namespace/name`. Pure. */
import { cutMiddle } from '../lib/cut.ts';
import { exactJson } from '../lib/exact-json.ts';
import { isObject } from '../lib/objects.ts';
import { printable } from '../lib/printable.ts';

/** The fields of a line, as in the JSON format. */
export type LogLine = Readonly<Record<string, unknown>>;

interface TextStyle {
  /** Whether each line starts with the date. */
  readonly hasDate?: boolean;
  /** Whether errors are followed by their stack. */
  readonly hasStacks?: boolean;
  /** The tree of all lines, which they need not repeat. */
  readonly tree?: string | undefined;
}

/** The text of a line, without a line break at its end. */
export function textOf(line: LogLine, style: TextStyle = {}): string {
  const object = objectOf(line);
  const parts = [
    object && object + controllerOf(line),
    string(line['msg']),
    fieldsOf(line, object, style).join(' '),
  ].filter((part) => part !== undefined && part !== '');
  return `${timeOf(line['time'], style)} ${string(line['level']).padEnd(5)} ${parts.join('  ')}${stackOf(line, style)}`;
}

const string = (value: unknown): string => (typeof value === 'string' ? printable(value) : '');

const timeOf = (time: unknown, { hasDate }: TextStyle): string =>
  `${hasDate ? `${string(time).slice(0, 10)} ` : ''}${string(time).slice(11, 23)}`;

/** `Installation shop/web`; undefined if the line is not about an object. */
export function objectOf(line: LogLine): string | undefined {
  const [kind, namespace, name] = ['kind', 'namespace', 'name'].map((key) => string(line[`resource.${key}`]));
  if (!kind || !name) return undefined;
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}

/** Several controllers reconcile deploy items; other controllers have the name of their kind. */
function controllerOf(line: LogLine): string {
  const [controller, kind] = [string(line['controller']), string(line['resource.kind'])];
  return controller === '' || controller === kind.toLowerCase() ? '' : ` (${controller})`;
}

// ---------------------------------------------------------------- fields

/** Shown elsewhere in the line, or only useful to programs. */
const notFields = new Set(['time', 'level', 'msg', 'reconcileID', 'tree', 'jobID']);
const JOB_CHARACTERS = 8;
const MAX_VALUE = 200;

function fieldsOf(line: LogLine, object: string | undefined, style: TextStyle): readonly string[] {
  const tree = string(line['tree']);
  const isRepeated = tree === style.tree || object === `Installation ${tree}`;
  const job = string(line['jobID']).slice(0, JOB_CHARACTERS);
  const others = Object.entries(line).filter(
    ([key]) =>
      !notFields.has(key) && !(object !== undefined && (key === 'controller' || key.startsWith('resource.'))),
  );
  return [
    ...(tree === '' || isRepeated ? [] : [`tree=${tree}`]),
    ...(job === '' ? [] : [`job=${job}`]),
    ...others.map(([key, value]) => `${printable(key)}=${valueText(key, value)}`),
  ];
}

/** Errors are never shortened. */
function valueText(key: string, value: unknown): string {
  if (isError(value)) return quoted(value.message);
  const text = typeof value === 'string' ? quoted(value) : printable(exactJson(value));
  return key === 'err' || key === 'error' ? text : cutMiddle(text, MAX_VALUE);
}

const quoted = (text: string): string =>
  /^[^\s"=]+$/.test(text) ? printable(text) : printable(JSON.stringify(text));

interface LoggedError {
  readonly type?: string;
  readonly message: string;
  readonly stack: string;
}

const isError = (value: unknown): value is LoggedError =>
  isObject(value) && typeof value['message'] === 'string' && typeof value['stack'] === 'string';

function stackOf({ err }: LogLine, { hasStacks }: TextStyle): string {
  if (!isError(err) || !(hasStacks || err.type === 'ProgrammingError')) return '';
  const frames = err.stack.split('\n').filter((frame) => /^\s+at /.test(frame));
  return frames.map((frame) => `\n    ${printable(frame.trim())}`).join('');
}
