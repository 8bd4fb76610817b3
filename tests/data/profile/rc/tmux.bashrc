export A=1
[ -n "$PS1" ] && [ -z "$TMUX" ] && exec tmux
PS1='\u \W $(__git_ps1 "(%s)") \$ '
export MANPATH="${MANPATH-$(manpath)}:/opt/man"
ssh_agent=$(cat <<EOT
a "quoted ' thing
EOT
)
[ -n "$BASH" ] && exec zsh -l
exec fish
# after
