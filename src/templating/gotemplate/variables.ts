/** The variables of a template in execution: a stack that is truncated at the end of each block. */
import type { PipeNode } from './ast.ts';
import type { RangeElement } from './range.ts';
import type { Value } from './values.ts';

interface Variable {
  readonly name: string;
  value: Value;
  /** Whether its static type in Go is interface{}; only visible in error messages. */
  isInterface: boolean;
}

export class Variables {
  readonly #stack: Variable[];

  /** @param root the value of `$` */
  constructor(root: Value) {
    this.#stack = [{ name: '$', value: root, isInterface: false }];
  }

  mark(): number {
    return this.#stack.length;
  }

  reset(mark: number): void {
    this.#stack.length = mark;
  }

  declare(name: string, value: Value, isInterface: boolean): void {
    this.#stack.push({ name, value, isInterface });
  }

  /** The innermost variable of that name; the parser accepts `=` for undeclared ones. */
  find(name: string): Variable | undefined {
    return this.#stack.findLast((variable) => variable.name === name);
  }

  /** @returns whether the variable exists */
  assign(name: string, value: Value, isInterface: boolean): boolean {
    const variable = this.find(name);
    if (!variable) return false;
    variable.value = value;
    variable.isInterface = isInterface;
    return true;
  }

  /** Sets the variables of a range, which exist, for one element. With one variable, it is the element. */
  bind({ declarations, isAssign }: PipeNode, { index, element, isInterface }: RangeElement): void {
    const isPair = declarations.length > 1;
    for (const [i, name] of declarations.entries()) {
      const isIndex = isPair && i === 0;
      const value = isIndex ? index : element;
      if (!isAssign) {
        const at = this.#stack.length - declarations.length + i;
        this.#stack[at] = { name, value, isInterface: isInterface && !isIndex };
      } else this.assign(name, value, isInterface && !isIndex);
    }
  }
}
