/** Formats expressions in the original's layout, for error lists. */
import { byCodePoint } from '../../../lib/gojson.ts';
import { formatGoFloat } from '../../../lib/go-float.ts';
import { quoteString } from '../../go/quote.ts';
import { isFields, isList, Lambda, type Value } from '../tree/node.ts';
import { isExpr, type Expr, type ExprOf, type LambdaExpr, type MergeExpr } from './ast.ts';

type Printers = { readonly [K in Expr['kind']]: (expr: ExprOf<K>) => string };

const printers: Printers = {
  value: ({ value }) => (typeof value === 'string' ? quoteString(value) : valueText(value)),
  nil: () => 'nil',
  undefined: () => '~~',
  auto: () => 'auto',
  reference: ({ tag, path }) => {
    const prefix = tag === '' ? '' : `${tag}::`;
    return prefix + (path.length === 1 && path[0] === '' ? '.' : path.join('.'));
  },
  qualified: ({ over, path }) => `(${print(over)}).${path.join('.')}`,
  dynamic: ({ over, index }) => `${print(over)}.${print(index)}`,
  slice: ({ over, range }) => `${print(over)}.[${print(range)}]`,
  projection: ({ over, projection }) => `${print(over)}.[*] ${print(projection)}`,
  projected: () => '',
  list: ({ items }) => `[${items.map(print).join(', ')}]`,
  expansion: ({ over }) => `${print(over)}...`,
  named: ({ name, over }) => `${name}=${print(over)}`,
  map: (expr) => `{${assignments(expr)} }`,
  range: ({ start, end }) => `[${start ? print(start) : '%!s(<nil>)'}..${end ? print(end) : '%!s(<nil>)'}]`,
  group: ({ inner, text }) => text ?? `( ${print(inner)} )`,
  scope: ({ locals, body }) => `(${assignments(locals).trimStart()} ) ${print(body)}`,
  or: ({ left, right }) => `${print(left)} || ${print(right)}`,
  validOr: ({ left, right }) => `${print(left)} // ${print(right)}`,
  conditional: ({ condition, then, otherwise }) =>
    `${print(condition)} ? ${print(then)} : ${print(otherwise)}`,
  concatenation: ({ left, right }) => `${print(left)} ${print(right)}`,
  logical: ({ operator, left, right }) => `${print(left)} ${operator} ${print(right)}`,
  comparison: ({ operator, left, right }) => `${print(left)} ${operator} ${print(right)}`,
  arithmetic: ({ operator, left, right }) => `${print(left)} ${operator} ${print(right)}`,
  not: ({ inner }) => `!(${print(inner)})`,
  instance: ({ template }) => `*(${print(template)})`,
  lambda: (expr) => `lambda${lambdaText(expr)}`,
  lambdaOf: ({ source }) => `lambda ${print(source)}`,
  call: ({ callee, args, isCurried }) =>
    `${print(callee)}${isCurried ? '*' : ''}(${args.map(print).join(', ')})`,
  loop: ({ loop, over, body }) => `${loop.slice(0, -1)}${print(over)}${inLoop(body)}${loop.slice(-1)}`,
  sum: ({ over, initial, body }) => `sum[${print(over)}|${print(initial)}${inLoop(body)}]`,
  catch: ({ over, body }) => (body ? `catch[${print(over)}${inLoop(body)}]` : `catch(${print(over)})`),
  sync: ({ over }) => `sync(${print(over)})`,
  merge: (expr) => mergeText(expr),
  prefer: ({ inner }) => `prefer ${print(inner)}`,
  marker: ({ markers, body }) => markers.join(' ') + (body ? ` (${print(body)})` : ''),
};

export const print = (expr: Expr): string => (printers[expr.kind] as (expr: Expr) => string)(expr);

const assignments = ({ entries }: ExprOf<'map'>): string =>
  entries.map(({ key, value }) => ` ${print(key)} = ${print(value)}`).join(',');

function lambdaText({ parameters, hasRest, body }: LambdaExpr): string {
  const names = parameters.map(({ name, value }) => (value ? `${name}=${print(value)}` : name));
  return `|${names.join(',')}${hasRest ? '...' : ''}|->${print(body)}`;
}

const inLoop = (body: Expr): string => (body.kind === 'lambda' ? lambdaText(body) : `|${print(body)}`);

function mergeText({ path, isRedirected, isReplacing, isRequired, keyName }: MergeExpr): string {
  let options = (isReplacing ? ' replace' : '') + (keyName === '' ? '' : ` on ${keyName}`);
  if (isRequired && !isRedirected && options !== '') options = ' required';
  return isRedirected ? `merge${options} ${path.join('.')}` : `merge${options}`;
}

/** A value in an expression. */
function valueText(value: Value): string {
  if (value === null) return '%!s(<nil>)';
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'number') return formatGoFloat(value, 'g');
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  const inner = (it: Value | Expr | undefined): string =>
    it === undefined ? '' : isExpr(it) ? print(it) : valueText(it);
  if (isList(value)) return `[${value.map((it) => inner(it.value)).join(', ')}]`;
  if (isFields(value)) {
    const keys = [...value.keys()].sort(byCodePoint);
    return `{${keys.map((key) => `"${key}"=${inner(value.get(key)?.value)}`).join(', ')}}`;
  }
  return value instanceof Lambda ? `lambda${lambdaText(value.expr)}` : value.text;
}

/** The names in the scope of a lambda or template; without values, which may be secret. */
export const describeNames = (names: Iterable<string>): string =>
  `{${[...names]
    .filter((name) => name !== '_')
    .sort(byCodePoint)
    .join(', ')}}`;
