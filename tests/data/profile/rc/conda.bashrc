export LANG=en_US.UTF-8
# >>> conda initialize >>>
# !! Contents within this block are managed by 'conda init' !!
__conda_setup="$('/home/u/miniconda3/bin/conda' 'shell.bash' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    if [ -f "/home/u/miniconda3/etc/profile.d/conda.sh" ]; then
        . "/home/u/miniconda3/etc/profile.d/conda.sh"
    else
        export PATH="/home/u/miniconda3/bin:$PATH"
    fi
fi
unset __conda_setup
# <<< conda initialize <<<

alias k=kubectl
complete -F __start_kubectl k
