/** Commands that write skeletons for authors of landscapes. */
import type { Command } from 'commander';
import type { NewOptions, SkeletonKind } from './new.ts';
import { examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const kinds: readonly {
  readonly kind: SkeletonKind;
  readonly summary: string;
  readonly description: string;
}[] = [
  {
    kind: 'landscape',
    summary: 'a root installation with two sub-installations, and a target',
    description:
      'Writes a folder with a root installation, a blueprint with two sub-installations of which one imports from the ' +
      'other, and a target for the cluster that it is applied to.',
  },
  {
    kind: 'blueprint',
    summary: 'a blueprint with one deploy item, and an installation to try it',
    description: 'Writes a folder with a blueprint and an installation to try it.',
  },
  {
    kind: 'component',
    summary: 'a component with a blueprint, and an installation to try it',
    description:
      'Writes a folder that can be packed as a component version, and an installation to try its blueprint.',
  },
];

export function addNewCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('new')
    .summary('write skeletons of landscapes, blueprints and components')
    .description(
      'Writes folders to start from, which can be applied at once. Existing files are never overwritten. ' +
        'See docs/first-landscape.md.',
    );
  for (const { kind, summary, description } of kinds) {
    group
      .command(kind)
      .argument('<name>', `name of the ${kind}, such as shop`)
      .summary(summary)
      .description(description)
      .option('--to <folder>', 'destination; default a folder with its name')
      .addHelpText('after', examples([[`espalier new ${kind} shop`, 'then: espalier apply shop --wait']]))
      .action(async (name: string, options: NewOptions) => {
        const { newSkeleton } = await import('./new.ts');
        newSkeleton(kind, name, options, terminal);
      });
  }
}
