/** The file of `espalier plan --out`: the plan as JSON, with the objects that the job would create. */
import { z } from 'zod';
import { isRoot } from '../../../api/job.ts';
import { timestamp, type Clock } from '../../../lib/clock.ts';
import { exactJson, parseExactJson } from '../../../lib/exact-json.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { readTextFile, writePrivateFile } from '../../files.ts';
import { packageInfo } from '../../package.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { countsOf } from './counts.ts';
import { planDocument, type PlanDocument } from './document.ts';
import type { MadePlan } from './make-plan.ts';
import { selfCommand } from '../../self-command.ts';

export interface SavedPlan extends PlanDocument {
  readonly savedAt: string;
  readonly version: string;
  readonly installation: { readonly namespace: string; readonly name: string; readonly uid: string };
}

/** Saves nothing if the job would fail. @throws CommandError if this is not the plan of a root installation */
export function savePlan(
  file: string,
  name: string,
  made: MadePlan,
  clock: Clock,
  terminal: Pick<Terminal, 'warn'>,
): void {
  const { installation, tree } = made;
  if (!installation || !isRoot(installation.metadata))
    throw new CommandError(
      `--out: ${name} is not a root installation, and only these start jobs; plan its root`,
    );
  if (countsOf(tree).problems > 0) {
    terminal.warn('the job would fail, so the plan was not saved');
    return;
  }
  const { namespace = '', uid = '' } = installation.metadata;
  const saved: SavedPlan = {
    ...comparablePlan(made),
    savedAt: timestamp(clock),
    version: packageInfo().version,
    installation: { namespace, name, uid },
  };
  writePrivateFile(file, `${exactJson(saved, 2)}\n`);
}

/** The plan in the form in which it is saved. */
export const comparablePlan = ({ tree, mask }: MadePlan): PlanDocument =>
  parseExactJson(exactJson(planDocument(tree, mask, true))) as PlanDocument;

const objectSchema = z.looseObject({ change: z.string(), kind: z.string(), name: z.string() });
const itemSchema = z.looseObject({
  path: z.string(),
  type: z.string(),
  state: z.string(),
  isKnown: z.boolean(),
  objects: z.array(objectSchema),
  notes: z.array(z.string()),
});
const savedPlanSchema = z.looseObject({
  kind: z.literal('Plan'),
  savedAt: z.string(),
  version: z.string(),
  installation: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }),
  items: z.array(itemSchema),
  problems: z.array(z.looseObject({ path: z.string(), message: z.string() })),
});

/** @throws UsageError if the file is not a saved plan of this version */
export function readPlan(file: string): SavedPlan {
  const text = readTextFile(file);
  const plan = savedPlanSchema.safeParse(parsed(text));
  if (!plan.success)
    throw new UsageError(
      `${file} is not a saved plan; save one with: ${selfCommand()} plan NAME --out ${file}`,
    );
  const { version } = packageInfo();
  if (plan.data.version !== version)
    throw new UsageError(
      `${file} was saved by version ${plan.data.version}, and this is version ${version}; save the plan again`,
    );
  return plan.data as unknown as SavedPlan;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
