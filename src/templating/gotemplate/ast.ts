/** The syntax tree of a template. Every node has its offset in the source; `print` formats a node like Go. */
import { quoteString } from '../go/quote.ts';

interface TextNode {
  readonly kind: 'text';
  readonly pos: number;
  readonly text: string;
}
export interface ListNode {
  readonly kind: 'list';
  readonly pos: number;
  readonly nodes: Statement[];
}
interface ActionNode {
  readonly kind: 'action';
  readonly pos: number;
  readonly pipe: PipeNode;
}
export interface BranchNode {
  readonly kind: 'if' | 'with' | 'range';
  readonly pos: number;
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly otherwise: ListNode | undefined;
}
export interface TemplateNode {
  readonly kind: 'template';
  readonly pos: number;
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}
interface JumpNode {
  readonly kind: 'break' | 'continue';
  readonly pos: number;
}
export interface PipeNode {
  readonly kind: 'pipe';
  readonly pos: number;
  readonly isAssign: boolean;
  /** Names with `$`. */
  readonly declarations: readonly string[];
  readonly commands: readonly CommandNode[];
}
export interface CommandNode {
  readonly kind: 'command';
  readonly pos: number;
  readonly args: readonly Operand[];
}
interface FieldNode {
  readonly kind: 'field';
  readonly pos: number;
  readonly path: readonly string[];
}
interface VariableNode {
  readonly kind: 'variable';
  readonly pos: number;
  /** Name with `$`, then the fields. */
  readonly path: readonly string[];
}
interface ChainNode {
  readonly kind: 'chain';
  readonly pos: number;
  readonly base: Operand;
  readonly path: readonly string[];
}
interface IdentifierNode {
  readonly kind: 'identifier';
  readonly pos: number;
  readonly name: string;
}
interface DotNode {
  readonly kind: 'dot' | 'nil';
  readonly pos: number;
}
interface BoolNode {
  readonly kind: 'bool';
  readonly pos: number;
  readonly value: boolean;
}
export interface NumberNode {
  readonly kind: 'number';
  readonly pos: number;
  readonly text: string;
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
  /** The value of the literal without a type from the context; undefined if it overflows int. */
  readonly ideal: bigint | number | undefined;
}
interface StringNode {
  readonly kind: 'string';
  readonly pos: number;
  readonly quoted: string;
  readonly value: string;
}

export type Statement = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;
export type Operand =
  | FieldNode
  | VariableNode
  | ChainNode
  | IdentifierNode
  | PipeNode
  | DotNode
  | BoolNode
  | NumberNode
  | StringNode;
export type Node = Statement | Operand | ListNode | CommandNode;

/** The node as Go prints it in the `<…>` of an error message; of a block, of which Go reports only parts, the beginning. */
export function print(node: Node): string {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'list':
      return node.nodes.map(print).join('');
    case 'action':
      return `{{${print(node.pipe)}}}`;
    case 'if':
    case 'with':
    case 'range':
      return `{{${node.kind} ${print(node.pipe)}}}`;
    case 'template':
      return `{{template ${quoteString(node.name)}${node.pipe ? ` ${print(node.pipe)}` : ''}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    case 'pipe': {
      const head =
        node.declarations.length > 0 ? `${node.declarations.join(', ')} ${node.isAssign ? '=' : ':='} ` : '';
      return head + node.commands.map(print).join(' | ');
    }
    case 'command':
      return node.args.map((arg) => (arg.kind === 'pipe' ? `(${print(arg)})` : print(arg))).join(' ');
    default:
      return printOperand(node);
  }
}

function printOperand(node: Exclude<Operand, PipeNode>): string {
  switch (node.kind) {
    case 'field':
      return `.${node.path.join('.')}`;
    case 'variable':
      return node.path.join('.');
    case 'chain':
      return `${node.base.kind === 'pipe' ? `(${print(node.base)})` : print(node.base)}.${node.path.join('.')}`;
    case 'identifier':
      return node.name;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
  }
}

/** Whether a list consists only of white space. */
export const isEmpty = (list: ListNode): boolean =>
  list.nodes.every((node) => node.kind === 'text' && node.text.trim() === '');
