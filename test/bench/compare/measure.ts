/** All figures of one product, from its start on a new server to its stop. In each of them, less is better. */
import { namesOf } from '../guard/measure.ts';
import { withProduct, type Cost, type Run } from '../product/run.ts';
import type { Server } from '../servers.ts';
import { shapeNames, type ShapeName } from '../shapes.ts';

export interface Figure {
  readonly section: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
}

/** Figures by section and what they are. */
export type Figures = ReadonlyMap<string, Figure>;

export interface Plan {
  /** Number of mock trees that are created at once; of stacks a quarter. */
  readonly trees: number;
  /** Called before each step. */
  readonly say: (step: string) => void;
}

const COLD = 50;
const MIB = 2 ** 20;

class Sheet {
  readonly figures = new Map<string, Figure>();

  add(section: string, what: string, unit: string, value: number): void {
    this.figures.set(`${section}: ${what}`, { section, what, unit, value });
  }

  addCost(section: string, cost: Cost, trees: number): void {
    const per = (what: string, unit: string, value: number): void => {
      this.add(section, what, unit, value / trees);
    };
    this.add(section, 'time until all are done', 's', cost.ms / 1000);
    for (const [name, ms] of Object.entries(cost.cpuMs))
      per(`processor time of ${name === 'controllers' ? 'the controllers' : name}`, 'ms/tree', ms);
    const { writes, events, reads, kinds, answerBytes } = cost.requests;
    per('writes', '/tree', writes);
    per('events', '/tree', events);
    per('reads', '/tree', reads);
    per('bytes sent (bodies of writes)', 'B/tree', cost.bodyBytes);
    if (answerBytes > 0) per('bytes stored (objects written)', 'B/tree', answerBytes);
    for (const [kind, count] of Object.entries(kinds)) per(`- ${kind}`, '/tree', count);
  }

  addCode(section: string, { counts }: Cost, trees: number): void {
    if (counts === undefined) return;
    this.add(section, 'blocks of code executed', '/tree', counts.executedBlocks / trees);
    this.add(section, 'memory allocated', 'KiB/tree', counts.allocatedBytes / 1024 / trees);
  }
}

/** Processor time, bytes, writes, memory and the start, first cold and then warm. */
export async function measured(server: Server, folder: string, { trees, say }: Plan): Promise<Figures> {
  const sheet = new Sheet();
  say('start');
  await withProduct(server, { folder }, async (run) => {
    const { readyMs, readyCpuMs } = run.product;
    sheet.add('start', 'time until ready', 's', readyMs / 1000);
    sheet.add('start', 'processor time until ready', 's', readyCpuMs / 1000);
    const both = async (label: string, shape: ShapeName, count: number): Promise<void> => {
      const names = namesOf(`${label.replaceAll(' ', '-')}-${shape}`, count);
      const section = `${count} ${shape} trees${label === 'cold' ? ', the first after the start' : ''}`;
      say(`${section}, installed`);
      const installed = await run.step((load) => load.install({ names }, shape));
      sheet.addCost(`${section}, installed`, installed, count);
      say(`${section}, deleted`);
      const deleted = await run.step((load) => load.uninstall({ names }));
      if (label !== 'cold') sheet.addCost(`${section}, deleted`, deleted, count);
    };
    await both('cold', 'mock', COLD);
    await both('warm', 'mock', trees);
    await both('warm', 'stack', Math.ceil(trees / 4));
    const { controllers, all } = run.product.peakBytes();
    sheet.add('memory', 'peak of the controllers', 'MiB', controllers / MIB);
    sheet.add('memory', 'peak with template processes', 'MiB', all / MIB);
  });
  return sheet.figures;
}

const COUNTED = 20;

/** What the code of the controllers does for a tree, which other load on the machine hardly changes. */
export async function counted(server: Server, folder: string, say: Plan['say']): Promise<Figures> {
  const sheet = new Sheet();
  await withProduct(server, { folder, isCounted: true }, async (run: Run) => {
    for (const label of ['unused', 'counted'])
      for (const shape of shapeNames) {
        const batch = { names: namesOf(`${label}-${shape}`, COUNTED), atOnce: 2 };
        say(`${COUNTED} ${shape} trees, ${label === 'counted' ? 'counted' : 'to warm up'}`);
        const installed = await run.step((load) => load.install(batch, shape));
        const deleted = await run.step((load) => load.uninstall(batch));
        if (label === 'unused') continue;
        sheet.addCode(`${shape}, code while installed`, installed, COUNTED);
        sheet.addCode(`${shape}, code while deleted`, deleted, COUNTED);
      }
  });
  return sheet.figures;
}
