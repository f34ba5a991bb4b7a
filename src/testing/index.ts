/**
 * Tests of operators without a cluster: the embedded API server with your kinds in virtual time, injected faults, and a
 * simulation that finds the order of events in which an operator fails.
 */
export { startTestCluster } from './start-test-cluster.ts';
export { checkConversion, ConversionFailure, type ConversionCheck } from './check-conversion.ts';
export { SampleError } from './sample.ts';
export { simulate, SimulationFailure, type SimulateOptions } from './simulate.ts';
export { Violation } from './violation.ts';
export type {
  BuiltInLaw,
  Law,
  OperatorUnderTest,
  ExternalServices,
  RequestMatch,
  Scenario,
  TestCluster,
} from './scenario.ts';
export type { ObjectChange } from './cluster/local-cluster.ts';
export type { ScriptedFault, RequestFault } from './network/faults.ts';
export { Chance } from './engine/chance.ts';
