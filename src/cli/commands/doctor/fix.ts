/** `espalier doctor --fix`: asks for each finding, reads again, writes with preconditions, and checks the result. */
import { Conflict, Forbidden, NotFound } from '../../../runtime/errors.ts';
import type { Client } from '../../../runtime/types.ts';
import type { Findable, Finding } from '../../doctor/findable.ts';
import { remedyOf, stepsByHand } from '../../doctor/remedies.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The findings, and the objects that they were found in. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly all: Findable;
}

interface FixPorts {
  readonly client: Pick<Client, 'send'>;
  readonly terminal: Terminal;
  /** Reads everything again. */
  readonly diagnose: () => Promise<Diagnosis>;
  readonly textOf: (finding: Finding) => string;
  readonly pause: (ms: number) => Promise<void>;
  /** Does not ask. */
  readonly isConfirmed: boolean;
}

/** How long a controller may need until a requested job has begun. */
const CHECKS = 10;
const CHECK_MS = 500;

/** @returns the exit code: 0 if none of the findings is left */
export async function fix({ findings, all }: Diagnosis, ports: FixPorts): Promise<number> {
  const { terminal, textOf } = ports;
  let left = 0;
  for (const [i, finding] of findings.entries()) {
    terminal.print(textOf(finding));
    const remedy = remedyOf(finding, all);
    if (!remedy) {
      terminal.print(`  by hand:  ${stepsByHand(finding)}\n`);
      left++;
      continue;
    }
    const answer = ports.isConfirmed ? 'y' : await ask(`  ${remedy.what}? [y/N/q] `, terminal);
    if (answer === 'q') {
      terminal.print(`\nstopped; ${countOf(left + findings.length - i)}`);
      return exitCodes.failed;
    }
    const result = answer === 'y' ? await fixOne(finding, ports) : { isCured: false, message: 'skipped' };
    terminal.print(`  result:   ${result.message}\n`);
    if (!result.isCured) left++;
  }
  terminal.print(left === 0 ? 'no findings remain' : countOf(left));
  return left === 0 ? exitCodes.ok : exitCodes.failed;
}

const countOf = (left: number): string =>
  left === 1 ? '1 finding remains' : `${String(left)} findings remain`;

async function ask(question: string, terminal: Terminal): Promise<'y' | 'n' | 'q'> {
  const answer = await terminal.ask(question);
  if (answer === undefined)
    throw new UsageError('cannot ask without a terminal; add --yes and --check with the name of the check');
  const first = answer.trim().toLowerCase();
  return first === 'y' || first === 'yes' ? 'y' : first === 'q' ? 'q' : 'n';
}

interface Result {
  readonly isCured: boolean;
  readonly message: string;
}

async function fixOne(finding: Finding, { client, diagnose, pause }: FixPorts): Promise<Result> {
  const now = await diagnose();
  const current = same(finding, now);
  if (!current) return { isCured: true, message: 'it no longer exists; nothing was done' };
  const remedy = remedyOf(current, now.all);
  if (!remedy) return { isCured: false, message: 'the object has changed; nothing was done' };
  try {
    await client.send(remedy.write);
  } catch (error) {
    return { isCured: false, message: refusal(error) };
  }
  for (let checks = 0; checks < CHECKS; checks++) {
    if (!same(finding, await diagnose())) return { isCured: true, message: 'cured' };
    await pause(CHECK_MS);
  }
  return {
    isCured: false,
    message: 'done, but the finding is still there; check whether the controllers run',
  };
}

const same = ({ check, object }: Finding, { findings }: Diagnosis): Finding | undefined =>
  findings.find((other) => other.check === check && other.object === object);

/** @throws any other error */
function refusal(error: unknown): string {
  if (error instanceof Conflict) return 'the object has just changed; nothing was done';
  if (error instanceof NotFound) return 'the object has just been deleted; nothing was done';
  if (error instanceof Forbidden) return `you lack the permission; nothing was done: ${error.message}`;
  throw error;
}
