/** The planner of src/lib, which the data flow also uses to order its nodes. */
export { plan, type NodeState, type Plan, type Policy } from '../lib/plan.ts';
