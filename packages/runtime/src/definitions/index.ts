export * from './definition-version.ts'
export { installDefinitions, type InstallDefinitionsOptions } from './install-definitions.ts'
