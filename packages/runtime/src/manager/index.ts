export type { Component, ComponentDefinition, ManagerContext, Stage } from './component.ts'
export { manager, Manager } from './manager.ts'
export type { LeaderElectionSettings, ManagerOptions } from './options.ts'
