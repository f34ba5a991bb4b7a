/** Executes the syntax tree of a template and writes its output. Arguments and function calls are in eval-call.ts. */
import {
  print,
  type BranchNode,
  type CommandNode,
  type ListNode,
  type Node,
  type Operand,
  type PipeNode,
  type Statement,
  type TemplateNode,
} from './ast.ts';
import { callFunction } from './eval-call.ts';
import { outputTooLarge } from '../budget.ts';
import { evalPath } from './eval-field.ts';
import type { Env, NamedTemplate } from './env.ts';
import { type Evaluator, MISSING, type Piped } from './evaluator.ts';
import {
  FunctionError,
  LimitError,
  placeOf,
  TemplateExecutionError,
  TemplateLimitExceeded,
} from './errors.ts';
import { sprintValue } from './format.ts';
import { byteLength } from '../go/go-string.ts';
import type { ParsedSource } from './parse.ts';
import { elementsOf } from './range.ts';
import { quoteString } from '../go/quote.ts';
import { isFunction, isTrue, typeName, type Value } from './values.ts';
import { Variables } from './variables.ts';

type Flow = 'next' | 'break' | 'continue';

/** The output of one execution, shared with the templates that it calls. */
export interface Output {
  text: string;
  bytes: number;
}

/** The execution of one template: its dot, its variables, and the current node for errors. */
export class Evaluation implements Evaluator {
  readonly env: Env;
  readonly #source: ParsedSource;
  readonly #name: string;
  readonly #output: Output;
  readonly #variables: Variables;
  /** The current node, for errors. */
  node: Node | undefined;
  dot: Value;
  isDotInterface = false;

  constructor(source: ParsedSource, name: string, dot: Value, shared: { env: Env; output: Output }) {
    this.#source = source;
    this.#name = name;
    this.#output = shared.output;
    this.env = shared.env;
    this.dot = dot;
    this.#variables = new Variables(dot);
  }

  /** @throws TemplateExecutionError */
  run(body: ListNode): void {
    try {
      this.#list(body);
    } catch (error) {
      if (error instanceof TemplateExecutionError) throw error;
      if (error instanceof LimitError) this.#stop(error.message, error);
      if (error instanceof RangeError) this.#stop('exceeded the memory or depth a template may use', error);
      throw error;
    }
  }

  #message(reason: string): string {
    if (!this.node) return `template: ${this.#name}: ${reason}`;
    const place = placeOf(this.#source.name, this.#source.source, this.node.pos);
    const where = `${place.template}:${String(place.line)}:${String(place.column)}`;
    return `template: ${where}: executing ${quoteString(this.#name)} at <${print(this.node)}>: ${reason}`;
  }

  /** @throws TemplateExecutionError always */
  fail(reason: string, cause?: unknown, hint?: string): never {
    const place = placeOf(this.#source.name, this.#source.source, this.node?.pos ?? 0);
    throw new TemplateExecutionError(this.#message(reason), place, reason, { cause, hint });
  }

  #stop(reason: string, cause: unknown): never {
    const place = placeOf(this.#source.name, this.#source.source, this.node?.pos ?? 0);
    throw new TemplateLimitExceeded(this.#message(reason), place, reason, { cause });
  }

  /** Records which part of the source writes the following output, if requested. */
  #trace(node: Node): void {
    const { trace } = this.env;
    if (trace?.output !== this.#output) return;
    const source = this.#source.source;
    const pos = node.kind === 'text' ? Math.max(source.indexOf(node.text, node.pos), node.pos) : node.pos;
    trace.marks.push({ at: this.#output.text.length, source, pos, isText: node.kind === 'text' });
  }

  #write(text: string): void {
    this.#output.bytes += byteLength(text);
    if (this.#output.bytes > this.env.limits.maxOutputBytes) {
      this.#stop(outputTooLarge(this.env.limits), undefined);
    }
    this.#output.text += text;
  }

  #list(list: ListNode): Flow {
    for (const node of list.nodes) {
      const flow = this.#statement(node);
      if (flow !== 'next') return flow;
    }
    return 'next';
  }

  #statement(node: Statement): Flow {
    this.env.charge(1);
    this.node = node;
    switch (node.kind) {
      case 'text':
        this.#trace(node);
        this.#write(node.text);
        return 'next';
      case 'action': {
        const value = this.pipeline(node.pipe);
        if (node.pipe.declarations.length === 0) this.#print(node, value);
        return 'next';
      }
      case 'if':
      case 'with':
        return this.#branch(node);
      case 'range':
        return this.#range(node);
      case 'template':
        this.#template(node);
        return 'next';
      default:
        return node.kind;
    }
  }

  #print(node: Node, value: Value): void {
    this.node = node;
    this.#trace(node);
    if (isFunction(value)) this.fail(`can't print ${print(node)} of type ${typeName(value)}`);
    if (value !== undefined && value !== null) this.#write(sprintValue(value));
    else {
      this.env.missing.push({ source: this.#source.source, pos: node.pos, text: print(node) });
      this.#write('<no value>');
    }
  }

  #branch(node: BranchNode): Flow {
    const mark = this.#variables.mark();
    const value = this.pipeline(node.pipe);
    let flow: Flow = 'next';
    const isTaken = isTrue(value);
    this.env.onWay?.(this.#source.source, node.pos, isTaken ? 'block' : 'else');
    if (isTaken) flow = node.kind === 'with' ? this.#withDot(value, false, node.list) : this.#list(node.list);
    else if (node.otherwise) flow = this.#list(node.otherwise);
    this.#variables.reset(mark);
    return flow;
  }

  #withDot(dot: Value, isInterface: boolean, list: ListNode): Flow {
    const before = this.dot;
    const wasInterface = this.isDotInterface;
    this.dot = dot;
    this.isDotInterface = isInterface;
    const flow = this.#list(list);
    this.dot = before;
    this.isDotInterface = wasInterface;
    return flow;
  }

  #range(node: BranchNode): Flow {
    const outer = this.#variables.mark();
    const value = this.pipeline(node.pipe);
    const mark = this.#variables.mark();
    let isDone = false;
    for (const { index, element, isInterface } of elementsOf(this, node, value)) {
      isDone = true;
      this.#variables.bind(node.pipe, { index, element, isInterface });
      const flow = this.#withDot(element, isInterface, node.list);
      this.#variables.reset(mark);
      if (flow === 'break') break;
    }
    this.env.onWay?.(this.#source.source, node.pos, isDone ? 'block' : 'else');
    const flow = !isDone && node.otherwise ? this.#list(node.otherwise) : 'next';
    this.#variables.reset(outer);
    // To Go's parser, a break in the else branch belongs to an outer loop, but at run time it ends this one.
    return flow === 'break' ? 'next' : flow;
  }

  #template(node: TemplateNode): void {
    const found = this.#find(node.name) ?? this.fail(`template ${quoteString(node.name)} not defined`);
    const dot = node.pipe ? this.pipeline(node.pipe) : undefined;
    this.env.enter();
    const shared = { env: this.env, output: this.#output };
    new Evaluation(found.source, node.name, dot, shared).run(found.body);
    this.env.leave();
  }

  #find(name: string): NamedTemplate | undefined {
    if (this.env.templates) return this.env.templates.get(name);
    const body = this.#source.definitions.get(name);
    return body && { source: this.#source, body };
  }

  /** The value of a pipeline; `undefined` for nil. */
  pipeline(pipe: PipeNode): Value {
    this.node = pipe;
    let result: Value;
    let piped: Piped = MISSING;
    for (const command of pipe.commands) {
      result = this.#command(command, piped) ?? undefined;
      piped = result;
    }
    for (const name of pipe.declarations) {
      if (!pipe.isAssign) this.#variables.declare(name, result, false);
      else if (!this.#variables.assign(name, result, false)) this.fail(`undefined variable: ${name}`);
    }
    return result;
  }

  #command(command: CommandNode, piped: Piped): Value {
    this.env.charge(1);
    const first = command.args[0] as Operand;
    if (first.kind === 'identifier') {
      this.node = first;
      return this.call(command, first.name, command.args.slice(1), piped);
    }
    if (first.kind === 'field' || first.kind === 'variable' || first.kind === 'chain') {
      return this.path(first, command.args.slice(1), piped);
    }
    if (first.kind !== 'pipe') this.node = first;
    if (command.args.length > 1 || piped !== MISSING) {
      this.fail(`can't give argument to non-function ${print(first)}`);
    }
    if (first.kind === 'pipe') return this.pipeline(first);
    if (first.kind === 'nil') return this.fail('nil is not a command');
    return this.literal(first);
  }

  /** Dot or a literal, without a type from the context. */
  literal(node: Operand): Value {
    this.node = node;
    switch (node.kind) {
      case 'dot':
        return this.dot;
      case 'bool':
      case 'string':
        return node.value;
      case 'number':
        return node.ideal ?? this.fail(`${node.text} overflows int`);
      default:
        return this.fail(`can't evaluate command ${quoteString(print(node))}`);
    }
  }

  /** A field chain of dot, a variable or a parenthesised pipeline. */
  path(node: Operand, args: readonly Operand[], piped: Piped): Value {
    this.node = node;
    if (node.kind === 'field') {
      return evalPath(
        this,
        { value: this.dot, isInterface: this.isDotInterface },
        node,
        node.path,
        args,
        piped,
      );
    }
    if (node.kind === 'variable') {
      const name = node.path[0] as string;
      const variable = this.#variables.find(name) ?? this.fail(`undefined variable: ${name}`);
      if (node.path.length > 1) return evalPath(this, variable, node, node.path.slice(1), args, piped);
      if (args.length > 0 || piped !== MISSING)
        this.fail(`can't give argument to non-function ${print(node)}`);
      return variable.value;
    }
    if (node.kind !== 'chain') return this.fail(`can't handle ${print(node)}`);
    if (node.base.kind === 'nil') this.fail(`indirection through explicit nil in ${print(node)}`);
    const base = this.untyped(node.base);
    return evalPath(this, { value: base, isInterface: false }, node, node.path, args, piped);
  }

  /** An operand without a type from the context. */
  untyped(node: Operand): Value {
    this.node = node;
    if (node.kind === 'pipe') return this.pipeline(node);
    if (node.kind === 'identifier') return this.call(node, node.name, [], MISSING);
    if (node.kind === 'field' || node.kind === 'variable' || node.kind === 'chain')
      return this.path(node, [], MISSING);
    return this.literal(node);
  }

  /** Calls a function by name. @param at the node to report in errors of the function */
  call(at: Node, name: string, args: readonly Operand[], piped: Piped): Value {
    const target = Object.hasOwn(this.env.functions, name) ? this.env.functions[name] : undefined;
    if (!target) return this.fail(`${quoteString(name)} is not a defined function`);
    return callFunction(this, { target, name, at, isBuiltin: true }, args, piped);
  }

  /** Calls code of a function and adds the position to its errors. */
  guard(at: Node, name: string, run: () => Value): Value {
    try {
      return run();
    } catch (error) {
      this.node = at;
      if (error instanceof LimitError) this.#stop(error.message, error);
      if (error instanceof TemplateLimitExceeded)
        this.#stop(`error calling ${name}: ${error.message}`, error);
      if (error instanceof RangeError) this.#stop('exceeded the memory or depth a template may use', error);
      if (error instanceof FunctionError || error instanceof Error) {
        return this.fail(`error calling ${name}: ${error.message}`, error);
      }
      throw error;
    }
  }
}
