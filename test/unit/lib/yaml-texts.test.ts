/** Limits for YAML that tenants write. */
import { expect } from 'chai';
import {
  isShort,
  MAX_BYTES_HERE,
  MAX_CHARACTERS_HERE,
  parseBoundedYaml,
  readTexts,
  textsHere,
  TextsTooLarge,
  TextUnreadable,
} from '../../../src/lib/yaml-texts.ts';
import { YamlError, YamlTooLarge } from '../../../src/lib/yaml-error.ts';
import { aliased } from '../../support/aliases.ts';
import { outcome } from '../../support/outcome.ts';

const MIB = 2 ** 20;
const texts = (...all: readonly string[]) => ({ texts: all.map((text, i) => [`k${i}`, text] as const) });

describe('texts that are read together', () => {
  it('are values in their order, with their sizes as JSON', () => {
    expect(readTexts(texts('a: 1', 'text', '[1, 2]'), MIB)).to.deep.equal([
      { value: { a: 1 }, bytes: 7 },
      { value: 'text', bytes: 6 },
      { value: [1, 2], bytes: 5 },
    ]);
  });

  it('are refused when their aliases exceed the limit together, although each is below it', () => {
    const bomb = aliased(25);
    expect(readTexts(texts(bomb), 4 * MIB)).to.have.length(1);
    expect(() => readTexts(texts(bomb, bomb), 4 * MIB)).to.throw(
      TextsTooLarge,
      'the values, with their aliases, have more than 4 MiB together',
    );
  });

  it('count strings by their length, and keys as well', () => {
    expect(readTexts(texts(`a: ${'x'.repeat(900)}`), 1000)).to.have.length(1);
    expect(() => readTexts(texts(`a: ${'x'.repeat(1000)}`), 1000)).to.throw(TextsTooLarge);
    expect(() => readTexts(texts(`${'k'.repeat(1000)}: 1`), 1000)).to.throw(TextsTooLarge);
  });

  it('are unreadable with the key of the first that is not YAML, unless they are kept', () => {
    const job = texts('a: 1', '{ broken');
    const error = (() => {
      try {
        return readTexts(job, MIB);
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).to.be.instanceOf(TextUnreadable).with.property('key', 'k1');
    expect((error as Error).cause).to.be.instanceOf(YamlError);
    expect(readTexts({ ...job, keepsText: true }, MIB)[1]?.value).to.equal('{ broken');
  });

  it('are never too large for this thread if they are short and plain', () => {
    const dense = `[${'1,'.repeat(MAX_CHARACTERS_HERE / 2 - 2)}1]`;
    expect(isShort(texts(dense))).to.equal(true);
    expect(readTexts(texts(dense), MAX_BYTES_HERE)).to.have.length(1);
    expect(isShort(texts(dense, 'more than that'))).to.equal(false);
  });

  it('are limited without workers', async () => {
    expect(await outcome(textsHere.readTexts(texts(aliased())))).to.throw(TextsTooLarge, 'more than 4 MiB');
  });
});

describe('YAML that is read at once', () => {
  it('is refused beyond 256 KiB, and when its aliases stand for more', () => {
    expect(parseBoundedYaml(`a: ${'x'.repeat(200_000)}`))
      .to.have.property('a')
      .with.length(200_000);
    expect(() => parseBoundedYaml(`a: ${'x'.repeat(263_000)}`)).to.throw(YamlTooLarge, '262144 bytes');
    expect(() => parseBoundedYaml(aliased())).to.throw(
      YamlTooLarge,
      'yaml: line 1: the values, with their aliases',
    );
  });
});
