import { expect } from 'chai';
import {
  elementName,
  executionContext,
  installationContext,
  objectName,
  parentContext,
} from '../../../src/dataflow/scope.ts';

describe('the name of a data object or target', () => {
  const rows: readonly [string, string, string][] = [
    ['Inst.shop', 'dbUrl', 'ezckfi5hbdewv3g6dnuvg7iu7iugammj'],
    ['Inst.shop', 'cluster', '2bf2rar56vhps6esz4cft4u27hzwbebd'],
    ['Inst.shop', 'nodes[0]', 'rgvghuvv2gmrzpow7xqda2wimzyh3kki'],
    ['Inst.shop', 'nodes[1]', 'wyaloxjv5yarzjvrfyeqafr3sgcnqyrm'],
    ['Inst.shop', 'clusters[red]', '4ms7ndcetwszk6powkygpgeksjmskqq5'],
    ['Inst.shop', 'clusters[blue]', 'xvczfuvjzg3i5mnutbp77wtgb2t4bbt3'],
    ['Exec.shop', '', 'ei5wjspizeqbpbixpd3rsbfqhljbnudf'],
    ['', 'My_Export', 'wqby7lkqqhjyijanp65vrktx7ibvxtds'],
    ['', 'greeting', 'greeting'],
    ['', 'a.b-c', 'a.b-c'],
    ['', '#literal', 'literal'],
    ['Inst.shop', '#literal', 'literal'],
  ];
  for (const [context, name, expected] of rows) {
    it(`is ${expected} for "${name}" in context "${context}"`, () => {
      expect(objectName(context, name)).to.equal(expected);
    });
  }

  it('of a list element has the index in brackets', () => {
    expect(elementName('nodes', 0)).to.equal('nodes[0]');
    expect(elementName('clusters', 'red')).to.equal('clusters[red]');
  });
});

describe('a context', () => {
  it('is empty for the parent of a root', () => expect(parentContext(undefined)).to.equal(''));
  it('of an installation has the prefix Inst', () => {
    expect(installationContext('shop')).to.equal('Inst.shop');
    expect(parentContext('shop')).to.equal('Inst.shop');
  });
  it('of an execution has the prefix Exec', () => expect(executionContext('shop')).to.equal('Exec.shop'));
});
