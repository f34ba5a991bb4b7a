/** `espalier language-server`. */
import type { Command } from 'commander';
import { examples } from '../../program-parts.ts';

export function addLanguageServerCommand(program: Command): void {
  program
    .command('language-server')
    .summary('serve an editor: findings, completion and documentation of fields')
    .description(
      'Speaks the language server protocol on standard input and output. Editors start it. It reports the findings of ' +
        'espalier blueprints lint while you type, and completes and explains fields. See docs/editors.md.',
    )
    .option('--stdio', 'accepted, because many editors add it')
    .addHelpText('after', examples([['espalier language-server', 'in the configuration of an editor']]))
    .action(async () => {
      const { serveEditor } = await import('./serve.ts');
      await serveEditor(process.stdin, process.stdout);
    });
}
