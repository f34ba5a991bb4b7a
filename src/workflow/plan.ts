/** The planner, as this layer offers it. It is at home in lib, since the data flow, which knows no cluster, orders with it too. */
export { plan, type NodeState, type Plan, type Policy } from '../lib/plan.ts';
