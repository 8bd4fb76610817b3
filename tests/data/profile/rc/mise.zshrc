# Enable Powerlevel10k instant prompt.
if [[ -r "${XDG_CACHE_HOME:-$HOME/.cache}/p10k-instant-prompt-${(%):-%n}.zsh" ]]; then
  source "${XDG_CACHE_HOME:-$HOME/.cache}/p10k-instant-prompt-${(%):-%n}.zsh"
fi
autoload -Uz compinit && compinit
fpath=(~/.zfunc $fpath)
eval "$(~/.local/bin/mise activate zsh)" 2>/dev/null
[[ ! -f ~/.p10k.zsh ]] || source ~/.p10k.zsh
function mkcd { mkdir -p "$1" && cd "$1" }
export FZF_DEFAULT_OPTS="--height 40% --bind 'ctrl-y:execute-silent(echo {} | pbcopy)'"
case ":$PATH:" in
  *":$PNPM_HOME:"*) ;;
  *) export PATH="$PNPM_HOME:$PATH" ;;
esac
exec 2>&1
