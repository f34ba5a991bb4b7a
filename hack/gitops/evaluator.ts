/** The evaluator of CEL expressions: a program in Go. */
import type { GoModule } from '../go/module.ts';

export const celEvaluator: GoModule = { name: 'cel', folder: import.meta.dirname };
