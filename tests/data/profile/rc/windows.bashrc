export EDITOR=vi
alias dir="ls -l"
