/** Null in a cluster with upstream's schema of DataObjects, which requires a value. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { ApiError } from '../../../src/runtime/errors.ts';
import { useCluster } from '../../support/cluster.ts';
import { data, exportsOut, fails, giving, succeeds, takes } from '../../support/dataflow.ts';
import { dataObject } from '../../support/landscape.ts';
import { eventually } from '../../support/waiting.ts';

const NULLABLE = '/spec/versions/0/schema/openAPIV3Schema/properties/data/nullable';

describe('null', () => {
  const here = useCluster();
  describe('in a cluster of upstream', () => {
    const setNullable = async (value: boolean): Promise<void> => {
      const ops = [{ op: 'replace' as const, path: NULLABLE, value }];
      const key = `${dataObjectKind.plural}.${dataObjectKind.group}`;
      await here.cluster.client.send({ verb: 'json', kind: CustomResourceDefinition, key, ops });
      const scene = await here.scene();
      // Servers use a schema a moment after it was stored.
      let attempt = 0;
      await eventually('the server uses the schema', async () => {
        const isTaken = await scene.create(dataObject(`probe-${attempt++}`, null)).then(
          () => true,
          (error: unknown) => {
            if (error instanceof ApiError) return false;
            throw error;
          },
        );
        return isTaken === value;
      });
    };
    before(function () {
      this.timeout(30_000);
      return setNullable(false);
    });
    after(function () {
      this.timeout(30_000);
      return setNullable(true);
    });

    it("fails the job with a message if upstream's schema is installed", async () => {
      const { scene, error, self } = await fails(here, { bp: giving('null'), spec: exportsOut() });
      expect(error.operation).to.equal('handlePhaseCompleting');
      expect(error.message).to.contain('export "result" has the value null, which cannot be stored');
      const condition = self.status?.conditions?.find(({ type }) => type === 'CreateExports');
      expect(condition).to.include({ status: 'False', reason: 'CreateDataObjects' });
      expect(scene.dataObject('result')).to.equal(undefined);
    });

    it('is stored inside a value all the same', async () => {
      const scene = await succeeds(here, {
        bp: { imports: [data('v')], ...giving('{{ toJson .imports.v }}') },
        spec: { ...takes('v'), ...exportsOut() },
        objects: [dataObject('v', { a: null, b: [null] })],
      });
      expect(scene.dataObject('result')?.data).to.deep.equal({ a: null, b: [null] });
    });
  });
});
