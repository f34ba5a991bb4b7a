/** Endpoints, slices, ingresses and network policies: defaults and rules. */
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { isObject } from '../../types.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

export const endpoints: Strategy = {
  defaults(object) {
    for (const subset of listOf(object, 'subsets'))
      for (const port of listOf(subset, 'ports')) fill(port, { protocol: 'TCP' });
  },
};

export const endpointSlice: Strategy = {
  defaults(object) {
    for (const port of listOf(object, 'ports')) fill(port, { name: '', protocol: 'TCP' });
  },
};

export const ingress: Strategy = {
  validate(object) {
    const spec = objectAt(object, 'spec');
    const rules = listOf(spec, 'rules');
    return rules.length === 0 && !isObject(spec['defaultBackend'])
      ? [field.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')]
      : [];
  },
};

export const ingressClass: Strategy = {
  defaults(object) {
    const { parameters } = objectAt(object, 'spec');
    if (isObject(parameters)) fill(parameters, { scope: 'Cluster' });
  },
};

export const networkPolicy: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    const hasEgress = listOf(spec, 'egress').length > 0;
    fill(spec, { podSelector: {}, policyTypes: hasEgress ? ['Ingress', 'Egress'] : ['Ingress'] });
    for (const rule of [...listOf(spec, 'ingress'), ...listOf(spec, 'egress')])
      for (const port of listOf(rule, 'ports')) fill(port, { protocol: 'TCP' });
  },
};
