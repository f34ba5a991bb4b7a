/**
 * Walks the tree of a Handlebars template and writes its output. Blocks are in blocks.ts. It is strict: a missing
 * value is an error that names it, except in functions and blocks for missing values.
 */
import { outputTooLarge } from '../budget.ts';
import type { Env } from '../gotemplate/env.ts';
import type { TemplateError } from '../gotemplate/errors.ts';
import {
  FunctionError,
  LimitError,
  TemplateExecutionError,
  TemplateLimitExceeded,
} from '../gotemplate/errors.ts';
import { byteLength } from '../go/go-string.ts';
import { GoMap, isTrue, type Value } from '../gotemplate/values.ts';
import { runBlock } from './blocks.ts';
import { callFunction, findFunction, toleratesMissing } from './call.ts';
import { rootFrame, type Frame, type Partial } from './frame.ts';
import { fileSource, withSource } from './files.ts';
import { runPartial } from './partials.ts';
import { asPath, isScoped, simpleName } from './paths.ts';
import { meant, placeOfNode, writtenAs, type Source } from './source.ts';
import { fieldOf, kindOf, textOf } from './values.ts';

type Node = hbs.AST.Node;
/** Common fields of `{{name a b}}`, `(name a b)` and `{{#name a b}}`. */
interface Call {
  readonly path: hbs.AST.Expression;
  readonly params: readonly hbs.AST.Expression[];
  readonly hash: hbs.AST.Hash | undefined;
}
type Path = hbs.AST.PathExpression;

/** The output of one execution, shared with everything that it includes. */
interface Output {
  text: string;
  bytes: number;
}

export class Evaluation {
  readonly env: Env;
  readonly source: Source;
  readonly #output: Output;

  constructor(env: Env, source: Source, output: Output) {
    this.env = env;
    this.source = source;
    this.#output = output;
  }

  /**
   * Executes a part of the template; partials defined in it are visible in all of it. @throws TemplateExecutionError
   */
  run({ body }: hbs.AST.Program, frame: Frame): void {
    const partials = new Map(frame.partials);
    const inner = { ...frame, partials };
    for (const node of body) if (isDefinition(node)) this.#define(node, inner, partials);
    for (const node of body) this.#statement(node, inner);
  }

  /** The output of a program from another source. */
  textOf({ source, program }: Pick<Partial, 'source' | 'program'>, frame: Frame): string {
    const output: Output = { text: '', bytes: 0 };
    new Evaluation(this.env, source, output).run(program, frame);
    return output.text;
  }

  write(text: string): void {
    this.#output.bytes += byteLength(text);
    const { limits } = this.env;
    if (this.#output.bytes > limits.maxOutputBytes) throw new LimitError(outputTooLarge(limits));
    this.#output.text += text;
  }

  /** The output of `work`, instead of writing it. */
  captured(work: () => void): string {
    const { text } = this.#output;
    this.#output.text = '';
    work();
    const written = this.#output.text;
    this.#output.text = text;
    this.#output.bytes -= byteLength(written);
    return written;
  }

  /** @throws TemplateExecutionError always */
  fail(node: Node, reason: string, cause?: unknown): never {
    throw new TemplateExecutionError(...this.#described(node, reason, cause));
  }

  /** Runs a function and adds the position to its errors. */
  at<T>(node: Node, prefix: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof RangeError) {
        const reason = 'exceeded the memory or depth a template may use';
        throw new TemplateLimitExceeded(...this.#described(node, reason, error));
      }
      if (error instanceof TemplateLimitExceeded) throw error;
      if (error instanceof LimitError) {
        throw new TemplateLimitExceeded(...this.#described(node, `${prefix}${error.message}`, error));
      }
      if (error instanceof Error) return this.fail(node, `${prefix}${error.message}`, error);
      throw error;
    }
  }

  #described(node: Node, reason: string, cause: unknown): ConstructorParameters<typeof TemplateError> {
    const place = placeOfNode(this.source, node);
    const where = `${place.template}:${String(place.line)}:${String(place.column)}`;
    const message = `template: ${where}: at <${writtenAs(this.source, node)}>: ${reason}`;
    return [message, place, reason, { cause }];
  }

  // -------------------------------------------------------------- statements

  #statement(node: hbs.AST.Statement, frame: Frame): void {
    this.#charged(node);
    switch (node.type) {
      case 'ContentStatement': {
        const { value } = node as hbs.AST.ContentStatement;
        this.#limited(node, () => {
          this.write(value);
        });
        return;
      }
      case 'MustacheStatement':
        this.#print(node as hbs.AST.MustacheStatement, frame);
        return;
      case 'BlockStatement':
        runBlock(this, node as hbs.AST.BlockStatement, frame);
        return;
      case 'PartialStatement':
      case 'PartialBlockStatement':
        runPartial(this, node as hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement, frame);
        return;
      case 'CommentStatement':
        return;
      default:
        if (!isDefinition(node)) this.fail(node, `only {{#*inline "name"}} may stand here`);
    }
  }

  /** Exceeded limits are reported with the position of the statement, unless a nested one already has a position. */
  #limited(node: Node, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof LimitError || error instanceof RangeError)) throw error;
      this.at(node, '', () => {
        throw error;
      });
    }
  }

  #charged(node: Node): void {
    this.#limited(node, () => {
      this.env.charge(1);
    });
  }

  #print(node: hbs.AST.MustacheStatement, frame: Frame): void {
    const value = this.call(node, node, frame);
    if (value === undefined) this.missing(node, node.params.length > 0 ? node : node.path, frame);
    if (value === null) this.fail(node, 'the value is null, which cannot be printed; give it a default');
    this.#limited(node, () => {
      this.write(textOf(value));
    });
  }

  #define(node: hbs.AST.DecoratorBlock, frame: Frame, partials: Map<string, Partial>): void {
    const [name] = node.params;
    const isInline = 'original' in node.path && node.path.original === 'inline';
    if (!isInline || name?.type !== 'StringLiteral') {
      this.fail(node, 'only {{#*inline "name"}} may stand here');
    }
    const { value } = name as hbs.AST.StringLiteral;
    partials.set(value, { source: this.source, program: node.program, frame });
  }

  // -------------------------------------------------------------- expressions

  /** A value; undefined if it is missing. */
  value(node: hbs.AST.Expression, frame: Frame): Value {
    this.#charged(node);
    switch (node.type) {
      case 'PathExpression':
        return this.path(node as Path, frame);
      case 'SubExpression':
        return this.call(node, node as hbs.AST.SubExpression, frame);
      case 'StringLiteral':
      case 'BooleanLiteral':
        return (node as hbs.AST.StringLiteral | hbs.AST.BooleanLiteral).value;
      case 'NumberLiteral': {
        const { value } = node as hbs.AST.NumberLiteral;
        return Number.isSafeInteger(value) ? BigInt(value) : value;
      }
      case 'NullLiteral':
        return null;
      case 'UndefinedLiteral':
        return undefined;
      default:
        return this.fail(node, 'this cannot be a value');
    }
  }

  path({ data, depth, parts, original }: Path, frame: Frame): Value {
    const [head, ...rest] = parts;
    if (data) {
      let at: Frame['data'] | undefined = frame.data;
      for (let i = 0; i < depth; i++) at = at?.outer;
      return rest.reduce<Value>(fieldOf, at?.values.get(head ?? ''));
    }
    if (depth === 0 && head !== undefined && !isScoped(original) && frame.named.has(head)) {
      return rest.reduce<Value>(fieldOf, frame.named.get(head));
    }
    let at: Frame | undefined = frame;
    for (let i = 0; i < depth; i++) at = at?.outer;
    return parts.reduce<Value>(fieldOf, at?.dot);
  }

  /** `{{name}}`, `{{name a b}}` or `(name a b)`. A field without arguments wins over a function. */
  call(node: Node, call: Call, frame: Frame): Value {
    const name = simpleName(call.path);
    const hasArgs = call.params.length > 0 || call.hash !== undefined;
    if (!hasArgs && node.type !== 'SubExpression') {
      const value = this.path(asPath(call.path), frame);
      const target = value === undefined && name !== undefined ? this.function(name) : undefined;
      return target && name !== undefined ? this.invoke(node, name, call, frame) : value;
    }
    if (name === undefined)
      return this.fail(
        node,
        `${call.path.type === 'PathExpression' ? 'a path' : 'a value'} cannot be called; only functions take arguments`,
      );
    return this.invoke(node, name, call, frame);
  }

  function(name: string) {
    return findFunction(this.env.functions, name);
  }

  /** @param more arguments in addition to those in the template */
  invoke(node: Node, name: string, { params, hash }: Call, frame: Frame, more: readonly Value[] = []): Value {
    if (name === 'lookup') return this.#lookup(node, params, frame);
    if (name === 'and' || name === 'or') return this.#shortCircuit(name, params, frame);
    const target = this.function(name);
    if (!target) {
      return this.fail(node, `there is no function ${name}${meant(name, Object.keys(this.env.functions))}`);
    }
    const tolerant = toleratesMissing(name);
    const args = params.map((param) => {
      const value = this.value(param, frame);
      return value === undefined && !tolerant ? this.missing(param, param, frame) : (value ?? null);
    });
    const named = hash?.pairs.flatMap(({ key, value }) => [key, this.value(value, frame) ?? null]) ?? [];
    if (named.length > 0 && name !== 'dict') {
      this.fail(
        node,
        `${name} takes no named arguments; (dict ${String(hash?.pairs[0]?.key)}=…) makes a map of them`,
      );
    }
    return this.at(node, `error calling ${name}: `, () =>
      callFunction(this.env, target, [...args, ...named, ...more]),
    );
  }

  #lookup(node: Node, params: readonly hbs.AST.Expression[], frame: Frame): Value {
    const [of, key] = params;
    if (!of || !key || params.length > 2) return this.fail(node, 'lookup expects a map or a list, and a key');
    const name = this.value(key, frame);
    const [container, at] = [this.value(of, frame), name === undefined || name === null ? '' : textOf(name)];
    return fieldOf(container, at);
  }

  #shortCircuit(name: 'and' | 'or', params: readonly hbs.AST.Expression[], frame: Frame): Value {
    let value: Value = null;
    for (const param of params) {
      value = this.value(param, frame) ?? null;
      if (isTrue(value) === (name === 'or')) break;
    }
    return value;
  }

  /** Reports which part of a path is missing. @throws TemplateExecutionError always */
  missing(node: Node, expression: hbs.AST.Expression, frame: Frame): never {
    if (expression.type !== 'PathExpression') {
      const name =
        expression.type === 'SubExpression'
          ? simpleName((expression as hbs.AST.SubExpression).path)
          : undefined;
      return this.fail(node, `${name === undefined ? 'the value' : `the result of ${name}`} is missing`);
    }
    const path = expression as Path;
    let length = 0;
    let around: Value;
    for (; length < path.parts.length; length++) {
      around = this.path({ ...path, parts: path.parts.slice(0, length) }, frame);
      if (this.path({ ...path, parts: path.parts.slice(0, length + 1) }, frame) === undefined) break;
    }
    const prefix = path.original
      .split(/[./]/)
      .slice(0, -(path.parts.length - length) || undefined)
      .join('.');
    const part = path.parts[length] ?? path.original;
    const of = length === 0 ? '' : `; ${prefix} is ${kindOf(around)}`;
    const names = around instanceof GoMap ? [...around.entries.keys()] : [];
    return this.fail(node, `${path.original} is missing: there is no ${part}${of}${meant(part, names)}`);
  }
}

const isDefinition = (node: Node): node is hbs.AST.DecoratorBlock => node.type === 'DecoratorBlock';

/** Executes a template. @throws TemplateExecutionError, TemplateLimitExceeded */
export function executeSource(env: Env, source: Source, dot: Value): string {
  const output: Output = { text: '', bytes: 0 };
  new Evaluation(env, source, output).run(source.program, rootFrame(dot));
  return output.text;
}

/** What `include` does: executes a file with its own value. @throws FunctionError, TemplateLimitExceeded */
export function includeFile(env: Env, path: string, data: Value): string {
  env.enter();
  try {
    const source = fileSource(env, path);
    if (!source) throw new FunctionError(`unable to read include file "${path}": file does not exist`);
    return executeSource(env, source, data);
  } catch (error) {
    throw withSource(env, path, error);
  } finally {
    env.leave();
  }
}
