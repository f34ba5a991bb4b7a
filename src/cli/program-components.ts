/** Commands about components: packing them, and bringing them into registries. */
import { Option, type Command } from 'commander';
import type { PackOptions, PushOptions } from './commands/components.ts';
import { examples } from './program-parts.ts';
import type { Terminal } from './terminal.ts';

export function addComponentCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('components')
    .aliases(['component', 'comp'])
    .summary('pack components, and push them into registries')
    .description(
      'Packs folders as component versions, and brings them into registries. See docs/components.md.',
    );
  addPack(group, terminal);
  addPush(group, terminal);
}

function addPack(group: Command, terminal: Terminal): void {
  group
    .command('pack')
    .argument('<folder>', 'folder with a file component.yaml; its folder blueprint is packed by itself')
    .summary('pack a folder as a component version into an archive')
    .description(
      'Packs a folder as a component version into an archive in the common transport format. An archive that is there gets one more version.',
    )
    .requiredOption('--to <file>', 'the archive to write')
    .addOption(
      new Option('--format <format>', 'default: as the archive is, or tgz for that ending, else tar').choices(
        ['directory', 'tar', 'tgz'],
      ),
    )
    .option('--force', 'replace a version that is in the archive with other contents')
    .addHelpText(
      'after',
      examples([['espalier components pack ./shop --to shop.ctf', 'the component in the folder shop']]),
    )
    .action(async (folder: string, options: PackOptions) => {
      const { pack } = await import('./commands/components.ts');
      await pack(folder, options, terminal);
    });
}

function addPush(group: Command, terminal: Terminal): void {
  group
    .command('push')
    .argument('<archive>', 'archive in the common transport format')
    .argument('<registry>', 'where to, such as registry.example.org/components')
    .summary('store the component versions of an archive in a registry')
    .description(
      'Stores all component versions of an archive in a registry. Credentials are those of `docker login`, if there are any.',
    )
    .option('--plain-http', 'allow plain HTTP: for http://HOST, and for hosts on this machine')
    .option('--docker-config <file>', 'credentials; default config.json in DOCKER_CONFIG, or in ~/.docker')
    .addHelpText(
      'after',
      examples([
        ['espalier components push shop.ctf registry.example.org/components', 'into a registry'],
        ['espalier components push shop.ctf localhost:5000 --plain-http', 'into one on this machine'],
      ]),
    )
    .action(async (archive: string, registry: string, options: PushOptions) => {
      const { push } = await import('./commands/components.ts');
      await push(archive, registry, options, terminal);
    });
}
