import { expect } from 'chai';
import { inspectText, type InspectFormat } from '../../../src/cli/tree/print-inspect.ts';
import { failedOnly, itemTrees } from '../../../src/cli/tree/tree.ts';
import { execution, failedLandscape, installation, item, trees } from './given.ts';

const short: InspectFormat = { isWide: false, hasDetails: false, hasNamespaces: false };

describe('installations inspect', () => {
  it('DEP-89: prints the tree', () => {
    expect(inspectText(trees(...failedLandscape()), short)).to.equal(`[✅ Succeeded] Installation app
    ├── [❌ Failed] Installation db
    │   Last error: boom
    └── [✅ Succeeded] Execution app
        └── [✅ Succeeded (outdated)] DeployItem app-web-x
`);
  });

  it('DEP-89: hides with -f what did not fail', () => {
    expect(inspectText(failedOnly(trees(...failedLandscape())), short)).to
      .equal(`[✅ Succeeded] Installation app
    └── [❌ Failed] Installation db
        Last error: boom
`);
  });

  const icons: readonly (readonly [string, string])[] = [
    ['Succeeded', '[✅ Succeeded]'],
    ['Failed', '[❌ Failed]'],
    ['DeleteFailed', '[❌ DeleteFailed]'],
    ['Init', '[🏗️ Init]'],
    ['ObjectsCreated', '[🏗️ ObjectsCreated]'],
    ['Progressing', '[🏗️ Progressing]'],
    ['Completing', '[🏗️ Completing]'],
    ['InitDelete', '[🏗️ InitDelete]'],
    ['TriggerDelete', '[🏗️ TriggerDelete]'],
    ['Deleting', '[🏗️ Deleting]'],
    ['CleanupOrphaned', '[CleanupOrphaned]'],
    ['Pondering', '[Pondering]'],
  ];
  for (const [phase, text] of icons)
    it(`writes ${text} for the phase ${phase}`, () => {
      expect(inspectText(trees(installation('a', { phase })), short)).to.equal(`${text} Installation a\n`);
    });

  it('does not show a wait as an error', () => {
    const text = inspectText(
      trees(
        installation('app', { phase: 'Progressing', error: 'db is not finished yet', waits: 'waits for db' }),
        installation('db', { parent: 'app', phase: 'Init', error: 'no such context' }),
        execution('app', { phase: 'Progressing' }),
        item('web', {
          execution: 'app',
          phase: 'Progressing',
          error: 'Deployment x/web: 0 of 1 ready',
          codes: ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY'],
        }),
        item('old', { execution: 'app', phase: 'Failed', error: 'gave up', codes: ['ERR_UNFINISHED'] }),
      ),
      short,
    );
    expect(text).to.equal(`[🏗️ Progressing] Installation app
Waiting: installation db: no such context
    ├── [🏗️ Init] Installation db
    │   Last error: no such context
    └── [🏗️ Progressing] Execution app
        Waiting: deploy item web: Deployment x/web: 0 of 1 ready
        ├── [❌ Failed] DeployItem old
        │   Last error: gave up
        └── [🏗️ Progressing] DeployItem web
            Waiting: Deployment x/web: 0 of 1 ready
`);
  });

  it('adds namespaces to installations', () => {
    const text = inspectText(
      trees(installation('a', { phase: 'Succeeded' }), execution('a', { phase: 'Succeeded' })),
      {
        ...short,
        hasNamespaces: true,
      },
    );
    expect(text).to.contain('Installation proj/a\n').and.contain('Execution a\n');
  });

  it('wraps long messages below their node', () => {
    const error = `${'word '.repeat(40)}end`;
    const lines = inspectText(
      trees(
        installation('a', { phase: 'Failed' }),
        installation('b', { parent: 'a', phase: 'Failed', error }),
      ),
      short,
    ).split('\n');
    expect(lines.length).to.equal(5);
    for (const line of lines.slice(2, 4))
      expect(line)
        .to.match(/^ {8}\S/)
        .and.to.have.length.at.most(120);
    expect(
      lines
        .slice(2, 4)
        .map((l) => l.trim())
        .join(' '),
    ).to.equal(`Last error: ${error}`);
  });

  for (const [timeout, words] of [
    [undefined, 'until 2026-01-01T00:10:00Z, 10m0s after its job began'],
    ['90s', 'until 2026-01-01T00:01:30Z, 1m30s after its job began'],
    ['none', 'no limit'],
    ['soon', 'not known, the timeout "soon" cannot be read'],
  ] as const) {
    it(`shows with -o wide the timeout of an item if it is ${timeout ?? 'not set'}`, () => {
      const spec = { type: 't', ...(timeout !== undefined && { timeout }) };
      const running = item('i', {
        execution: 'a',
        phase: 'Progressing',
        started: '2026-01-01T00:00:00Z',
        spec,
      });
      const text = inspectText(itemTrees({ deployItems: [running] }), { ...short, isWide: true });
      expect(text).to.equal(`[🏗️ Progressing] DeployItem i\nType: t\nTime: ${words}\n`);
    });
  }

  it('shows with -o wide blueprints, types and targets', () => {
    const text = inspectText(
      trees(
        installation('a', {
          phase: 'Succeeded',
          spec: {
            componentDescriptor: { ref: { componentName: 'example.com/shop', version: '1.2.3' } },
            blueprint: { ref: { resourceName: 'shop' } },
          },
        }),
        execution('a', { phase: 'Succeeded' }),
        item('i', {
          execution: 'a',
          phase: 'Succeeded',
          spec: {
            type: 'landscaper.gardener.cloud/container',
            config: { image: 'busybox', command: ['sh', '-c'] },
          },
        }),
      ),
      { ...short, isWide: true },
    );
    expect(text).to.equal(`[✅ Succeeded] Installation a
Component Descriptor: example.com/shop:1.2.3
Blueprint: shop
    └── [✅ Succeeded] Execution a
        └── [✅ Succeeded] DeployItem i
            Type: landscaper.gardener.cloud/container
            Image: busybox
            Command: sh -c
`);
  });

  it('shows the whole objects with -d', () => {
    const text = inspectText(trees(installation('a', { phase: 'Succeeded' })), {
      ...short,
      hasDetails: true,
    });
    expect(text).to.contain('\n---\n').and.contain('kind: Installation\n');
  });

  it('separates trees by an empty line', () => {
    expect(
      inspectText(trees(installation('a', { phase: 'Init' }), installation('b', { phase: 'Init' })), short),
    ).to.equal('[🏗️ Init] Installation a\n\n[🏗️ Init] Installation b\n');
  });
});
