export {
  claimCommand,
  type ClaimCommand,
  type ClaimCommandArgument,
  type ClaimCommandArguments,
  type ClaimCommandOption,
  claimSubcommands,
} from './commands.ts'
export type { ClaimCliContext, ClaimCliOptions, SignalSource } from './context.ts'
