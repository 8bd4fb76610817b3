# no newline at the end, latin1 café
alias g=git

export GREP_COLOR='1;32'
# ÿþ
if [ -d ~/x ]; then PATH=~/x:$PATH; fi