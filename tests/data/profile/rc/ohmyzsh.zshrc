# If you come from bash you might have to change your $PATH.
# export PATH=$HOME/bin:$HOME/.local/bin:/usr/local/bin:$PATH

# Path to your Oh My Zsh installation.
export ZSH="$HOME/.oh-my-zsh"

ZSH_THEME="robbyrussell"
# zstyle ':omz:update' mode auto      # update automatically without asking
COMPLETION_WAITING_DOTS="true"

plugins=(
  git
  docker # the '(' in a comment
  fzf
)

[[ -r $ZSH/oh-my-zsh.sh ]] && source $ZSH/oh-my-zsh.sh

# User configuration
if [[ -n $SSH_CONNECTION ]]; then
  export EDITOR='vim'
else
  export EDITOR='nvim'
fi

typeset -U path
path=(~/go/bin $path[@])
alias -g G='| grep'
setopt extended_glob
for f in ~/.zsh.d/*.zsh(N); do
  source $f
done
zmodload zsh/zprof
(( $+commands[direnv] )) && eval "$(direnv hook zsh)"
bindkey '^[[A' up-line-or-search
