/** The constants say what the API server says, and the types what objects look like as JSON. */
import { expect } from 'chai';
import type { V1PriorityClass } from '@kubernetes/client-node';
import { builtInKinds } from '../../../src/apiserver/kinds/catalogue.ts';
import * as coreKinds from '../../../src/runtime/core-kinds.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { View } from '../../../src/runtime/types.ts';

describe('the kinds of Kubernetes itself', () => {
  const served = builtInKinds(new Map());

  for (const [name, kind] of Object.entries(coreKinds)) {
    it(`have the group, version, plural and scope of the server: ${name}`, () => {
      expect(kind.kind).to.equal(name);
      const found = served.find(
        (each) => each.kind === name && each.group === kind.group && each.version === kind.version,
      );
      expect(found, apiVersionOf(kind)).to.include({ plural: kind.plural, namespaced: kind.namespaced });
    });
  }

  it('include those that operators need most', () => {
    expect(coreKinds).to.include.keys('ConfigMap', 'Secret', 'Service', 'Deployment', 'Job', 'Pod', 'Role');
  });

  it('have typed fields: times are strings, lists stay lists, and metadata is ours', () => {
    const pod: coreKinds.Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
      status: { startTime: '2026-01-31T12:00:00Z' },
    };
    const seen: View<coreKinds.Pod> = pod;
    const startedAt: string | undefined = seen.status?.startTime;
    const port: number | undefined = seen.spec?.containers[0]?.ports?.[0]?.containerPort;
    expect([startedAt, port]).to.deep.equal(['2026-01-31T12:00:00Z', 80]);
    // @ts-expect-error a time is a string, as in JSON
    const wrong: coreKinds.Pod = { ...pod, status: { startTime: new Date(0) } };
    expect(wrong.status?.startTime).to.be.instanceOf(Date);
  });

  it('have the name of JSON for the peers of a network policy, which the model of the official client renames', () => {
    const ingress: NonNullable<coreKinds.NetworkPolicy['spec']>['ingress'] = [
      { from: [{ podSelector: {} }] },
    ];
    // @ts-expect-error the server does not know this name
    const wrong: typeof ingress = [{ _from: [] }];
    expect([ingress, wrong]).to.have.length(2);
  });

  it('can be written down for any other model of the official client', () => {
    const urgent: coreKinds.ObjectOf<V1PriorityClass> = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'urgent' },
      value: 1_000,
    };
    expect(urgent.value).to.equal(1_000);
  });
});
