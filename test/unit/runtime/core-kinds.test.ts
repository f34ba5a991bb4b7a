/** The constants say what the API server says, and the types what objects look like as JSON. */
import { expect } from 'chai';
import type {
  V1CronJob,
  V1Deployment,
  V1Ingress,
  V1PersistentVolume,
  V1Pod,
  V1PriorityClass,
  V1StatefulSet,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { builtInKinds } from '../../../src/apiserver/kinds/catalogue.ts';
import * as coreKinds from '../../../src/runtime/core-kinds.ts';
import type { Plain } from '../../../src/runtime/core-kinds.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { View } from '../../../src/runtime/types.ts';

/** The spec of a kind; versions of Kubernetes differ in whether it is required. */
type Spec<T> = T extends { spec?: infer S } ? Plain<NonNullable<S>> : never;
type Agrees<Ours, Theirs> = Spec<Ours> extends Spec<Theirs> ? true : false;

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

  it('have the names of JSON, where the models of the official client have others', () => {
    const ingress: NonNullable<coreKinds.NetworkPolicy['spec']>['ingress'] = [
      { from: [{ podSelector: {} }] },
    ];
    // @ts-expect-error the server does not know this name
    const wrong: typeof ingress = [{ _from: [] }];
    const definition: Partial<coreKinds.CustomResourceDefinition['spec']> = {
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { items: { default: 1, 'x-kubernetes-int-or-string': true } } },
        },
      ],
    };
    expect([ingress, wrong, definition.versions]).to.have.length(3);
  });

  it('have the types of the official client in their specs', () => {
    // The compiler does the test: it refuses `true` if a field has another type.
    const agreed: readonly [
      Agrees<coreKinds.Pod, V1Pod>,
      Agrees<coreKinds.Deployment, V1Deployment>,
      Agrees<coreKinds.StatefulSet, V1StatefulSet>,
      Agrees<coreKinds.CronJob, V1CronJob>,
      Agrees<coreKinds.PersistentVolume, V1PersistentVolume>,
      Agrees<coreKinds.Ingress, V1Ingress>,
      Agrees<coreKinds.HorizontalPodAutoscaler, V2HorizontalPodAutoscaler>,
    ] = [true, true, true, true, true, true, true];
    const proof: Agrees<{ spec: { replicas: string } }, V1Deployment> = false;
    expect([...agreed, proof]).to.have.length(8);
  });

  it('can be written for any other model of the official client', () => {
    const urgent: coreKinds.ObjectOf<V1PriorityClass> = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'urgent' },
      value: 1_000,
    };
    expect(urgent.value).to.equal(1_000);
  });
});
