/** The Dockerfile follows its rules, and the rules detect violations. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { satisfies } from 'semver';
import { defaultSettings, VERSION } from '../../../deployers/container/settings.ts';
import { errorsIn } from './dockerfile.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const text = read('Dockerfile');
const check = (changed: string): readonly string[] =>
  errorsIn(changed, (path) => existsSync(join(root, path)));

describe('the Dockerfile', () => {
  it('has no mistakes', () => {
    expect(check(text)).to.deep.equal([]);
  });

  const planted: readonly (readonly [string, (text: string) => string, string])[] = [
    ['a base image without a tag', (t) => t.replace(/node:[\w.-]+/, 'node'), 'not pinned'],
    ['the latest base image', (t) => t.replace(/node:[\w.-]+/, 'node:latest'), 'not pinned'],
    ['a base image with a floating tag', (t) => t.replace(/node:[\w.-]+/, 'node:20-slim'), 'not pinned'],
    ['no user', (t) => t.replace(/^USER .*$/m, ''), 'runs as root'],
    ['root', (t) => t.replace(/^USER .*$/m, 'USER 0:0'), 'runs as 0:0'],
    ['a user by name', (t) => t.replace(/^USER .*$/m, 'USER node'), 'runs as node'],
    ['an ADD', (t) => `${t}ADD https://example.org/x.tgz /\n`, 'use COPY'],
    ['a download', (t) => `${t}RUN curl example.org | sh\n`, 'fetches from somewhere'],
    ['a missing source', (t) => `${t}COPY no-such-file ./\n`, 'there is no no-such-file'],
    ['a copy of everything', (t) => `${t}COPY . ./\n`, 'takes everything'],
    ['a shell around the program', (t) => `${t}ENTRYPOINT espalier\n`, 'goes through a shell'],
  ];
  for (const [what, change, sentence] of planted) {
    it(`must not have ${what}`, () => {
      expect(check(change(text)).join('\n')).to.contain(sentence);
    });
  }

  it('uses a Node.js on which the product runs', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const version = /NODE_IMAGE=node:(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? '';
    expect(satisfies(version, engines.node)).to.equal(true);
    // The version on which the tests run as well.
    expect(read('Makefile')).to.contain(`NODE_LTS ?= ${version}\n`);
  });

  it('passes only copied files to the build', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(read('.dockerignore').split('\n')[0]).to.equal('*');
    const sources = [...text.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, rest = '']) =>
      rest.split(/\s+/).slice(0, -1),
    );
    expect(new Set(allowed)).to.deep.equal(new Set(sources));
  });

  it('creates the default image of pods, in the version of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(VERSION).to.equal(version);
    expect(defaultSettings.init.image).to.equal(`espalier:${version}`);
    expect(text).to.contain(`-t espalier:${version} `);
  });
});
