export { defaultValues, describeValues, readConfiguration } from './read.ts'
export type { Loaded, ConfigurationSources } from './read.ts'
export { helpPage, helpText, referenceMarkdown } from './reference.ts'
export { defineConfiguration } from './table.ts'
export type { Configuration, ConfigurationOptions } from './table.ts'
export type { Option, Table, Values } from './option.ts'
export {
  connectionConfig,
  definitionConfig,
  leaderElectionConfig,
  logConfig,
  portConfig,
  probeConfig,
  type StandardSettings,
  webhookConfig,
} from './standard.ts'
